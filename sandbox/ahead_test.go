//go:build linux

package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bothyd/bothy/sandbox"
)

// ahead waits until the view of the run's next command is mounted, and reports whether it
// is.
func (f *fixture) ahead() bool {
	f.t.Helper()
	if _, err := f.manager.Waiting(f.t.Context(), f.run); err != nil { // it has its turn
		f.t.Fatal(err)
	}
	return f.manager.Ahead(f.run.RunID)
}

// person runs a script in the project, outside.
func (f *fixture) person(script string) {
	f.t.Helper()
	cmd := exec.Command("bash", "-ec", script)
	cmd.Dir = f.run.Project
	if out, err := cmd.CombinedOutput(); err != nil {
		f.t.Fatalf("%v\n%s", err, out)
	}
}

// TestAViewThatWaits shows the project as it is when its command comes: what the person
// made, changed, removed and renamed since, and the modes of folders; and nothing of that
// is a conflict.
func TestAViewThatWaits(t *testing.T) {
	f := viewFixture(t)
	for _, name := range []string{"changed", "removed", "renamed", "d/inner", "gone/x"} {
		f.write(name, "before")
	}
	f.ok("true")
	if !f.ahead() {
		t.Fatal("no view waits")
	}
	f.person(`echo -n after >changed; rm removed; mv renamed other; echo -n new >made; mv d e; rm -r gone; mkdir gone; chmod 700 e`)
	if got := f.ok("cat changed other made e/inner; stat -c %a e; ls; ls gone"); got != "afterbeforenewbefore700\nchanged\ne\ngone\nmade\nother" {
		t.Errorf("the command saw %q", got)
	}
	if !f.ahead() {
		t.Fatal("no view waits after that")
	}
	f.person(`echo -n person >changed`)
	if out := f.bash("cat changed; echo -n command >changed; rm made"); len(out.Conflicts) != 0 || len(out.Changes) != 2 || out.stdout != "person" || f.read("changed") != "command" {
		t.Errorf("got %+v, the project has %q", out.Result, f.read("changed"))
	}
	if !f.ahead() {
		t.Error("no view waits after a command that changed something")
	}
}

// TestAViewThatWaitsForAnotherProject: where the project's folder is another one, or has
// other rights, the command has a view of that.
func TestAViewThatWaitsForAnotherProject(t *testing.T) {
	f := viewFixture(t)
	f.write("old", "")
	f.ok("true")
	f.ahead()
	away := filepath.Join(t.TempDir(), "away")
	if err := os.Rename(f.run.Project, away); err != nil {
		t.Fatal(err)
	}
	f.write("fresh", "")
	if got := f.ok("ls; touch made"); got != "fresh" {
		t.Errorf("the command saw %q", got)
	}
	if _, err := os.Lstat(filepath.Join(away, "made")); err == nil {
		t.Error("the folder that was renamed was changed")
	}
	f.ahead()
	if err := os.Chmod(f.run.Project, 0o711); err != nil {
		t.Fatal(err)
	}
	if got := f.ok("stat -c %a .; touch again"); got != "711" {
		t.Errorf("the project's folder has %s", got)
	}
	if info, err := os.Stat(f.run.Project); err != nil || info.Mode().Perm() != 0o711 {
		t.Errorf("the project's folder has %v now, %v", info.Mode(), err)
	}
}

// TestNoViewWaits for a command that does not come, beside what waits for an answer, and
// when the run or the manager ends.
func TestNoViewWaits(t *testing.T) {
	cfg := config(t, shortDir(t))
	cfg.View, cfg.Judge = buildView(t), judgeByName{}
	f := newFixture(t, open(t, cfg))
	f.ok("true")
	if !f.ahead() {
		t.Fatal("no view waits")
	}
	f.manager.TooLong(f.run.RunID)
	if f.ahead() {
		t.Error("it waits too long")
	}
	if got := f.ok("echo on"); got != "on" {
		t.Errorf("got %q", got)
	}
	f.ok("touch asked")
	if f.ahead() {
		t.Error("one waits beside what waits for an answer")
	}
	if got := f.ok("ls"); got != "asked" {
		t.Errorf("later commands see %q", got)
	}
	g := newFixture(t, f.manager)
	g.ok("true")
	if !g.ahead() {
		t.Fatal("no view of another run waits")
	}
	if err := f.manager.Drop(t.Context(), g.run.RunID); err != nil {
		t.Fatal(err)
	}
	if g.ahead() {
		t.Error("one waits after its run was dropped")
	}
	g.ok("true")
	g.ahead()
	if err := f.manager.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	unused, err := filepath.Glob(filepath.Join(cfg.StateDir, "views", "*", "*", "w"))
	for _, dir := range unused {
		if _, missing := os.Lstat(filepath.Join(filepath.Dir(dir), "note")); missing != nil || err != nil {
			t.Errorf("%s stays, %v", dir, err)
		}
	}
}

// TestAViewThatWaitsWithItsHelper: a helper that died takes no command along.
func TestAViewThatWaitsWithItsHelper(t *testing.T) {
	cfg := config(t, shortDir(t))
	cfg.View, cfg.Judge = buildView(t), judgeByName{}
	f := newFixture(t, open(t, cfg))
	f.write("a", "one")
	f.ok("true")
	f.ahead()
	f.manager.KillHelper()
	if out := f.exec(t.Context(), sandbox.Command{Argv: []string{"bash", "-c", "cat a; echo two >a"}}); out.err != nil || out.stdout != "one" || f.read("a") != "two\n" {
		t.Errorf("got %+v, the project has %q", out, f.read("a"))
	}
}
