//go:build linux

package sandbox_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/bothyd/bothy/sandbox"
)

// TestPreparedContainerIsThatOfTheCommands: the first command finds the container
// that was made before it, and nothing is made again when there is one.
func TestPreparedContainerIsThatOfTheCommands(t *testing.T) {
	f := newFixture(t, open(t, config(t, shortDir(t))))
	made := 0
	f.manager.BeforeMount(func() { made++ })
	prepare := func(want int) {
		t.Helper()
		if _, err := f.manager.Prepare(t.Context(), f.run); err != nil || made != want {
			t.Fatalf("made %d containers, want %d: %v", made, want, err)
		}
	}
	prepare(1)
	first := f.bash("touch /tmp/mark")
	if made != 1 || len(first.Container) != 12 {
		t.Errorf("made %d containers, the command ran in %q", made, first.Container)
	}
	prepare(1)
	if next := f.bash("test -e /tmp/mark"); next.Container != first.Container || next.ExitCode != 0 {
		t.Errorf("the second command ran in %q with status %d, the first in %q", next.Container, next.ExitCode, first.Container)
	}
	f.run.Limits = &sandbox.Limits{Pids: 100}
	prepare(2)
	if other := f.bash("ulimit -u"); made != 2 || other.Container == first.Container || other.stdout != "100\n" {
		t.Errorf("made %d containers; with other limits: %q in %s", made, other.stdout, other.Container)
	}
}

// TestCommandWaitsForTheContainerThatIsMade, and makes none of its own.
func TestCommandWaitsForTheContainerThatIsMade(t *testing.T) {
	f := newFixture(t, open(t, config(t, shortDir(t))))
	made, making, goOn := 0, make(chan struct{}), make(chan struct{})
	f.manager.BeforeMount(func() {
		if made++; made == 1 {
			close(making)
			<-goOn
		}
	})
	prepared := make(chan error, 1)
	go func() {
		_, err := f.manager.Prepare(context.WithoutCancel(t.Context()), f.run)
		prepared <- err
	}()
	<-making
	ran := make(chan outcome, 1)
	go func() { ran <- f.exec(context.WithoutCancel(t.Context()), sandbox.Command{Argv: []string{"true"}}) }()
	select {
	case out := <-ran:
		t.Errorf("the command did not wait: %+v", out)
	default:
	}
	close(goOn)
	if err := <-prepared; err != nil {
		t.Error(err)
	}
	if out := <-ran; out.err != nil || out.ExitCode != 0 || made != 1 {
		t.Errorf("made %d containers, the command ended with %+v", made, out)
	}
}

// TestPreparingThatIsGivenUpLeavesNothing in the way of a command, nor does one
// that finds something else in the place of the project.
func TestPreparingThatIsGivenUpLeavesNothing(t *testing.T) {
	f := newFixture(t, open(t, config(t, shortDir(t))))
	ctx, cancel := context.WithCancel(t.Context())
	f.manager.BeforeMount(cancel)
	if _, err := f.manager.Prepare(ctx, f.run); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	f.manager.BeforeMount(nil)
	f.ok("true")

	if err := f.manager.Drop(t.Context(), f.run.RunID); err != nil {
		t.Fatal(err)
	}
	secret := t.TempDir()
	f.manager.BeforeMount(func() {
		if err := errors.Join(os.Rename(f.run.Project, f.run.Project+"-was"), os.Symlink(secret, f.run.Project)); err != nil {
			t.Error(err)
		}
	})
	if _, err := f.manager.Prepare(t.Context(), f.run); sandbox.Code(err) != sandbox.CodeSwapped {
		t.Errorf("with another project it ended with %v", err)
	}
	f.manager.BeforeMount(nil)
	if err := errors.Join(os.Remove(f.run.Project), os.Rename(f.run.Project+"-was", f.run.Project)); err != nil {
		t.Fatal(err)
	}
	if out := f.bash("true"); out.ExitCode != 0 || len(out.Violations) != 1 {
		t.Errorf("the next command tells %+v", out)
	}
}
