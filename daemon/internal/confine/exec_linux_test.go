package confine_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/confine"
)

// TestBecomes holds what the supervisor relies on: the plugin is the process
// that was started, in its group, and has exactly the arguments, environment
// and limits that it was given.
func TestBecomes(t *testing.T) {
	requireWalls(t)
	s := newScene(t)
	spec := s.spec()
	spec.Env, spec.Memory, spec.Files = []string{"ONE=1", "TWO=a b"}, 1<<30, 77
	runtime.LockOSThread() // the signal at the parent's death is its thread's
	defer runtime.UnlockOSThread()
	const say = `echo $$ $0 "$@" "$ONE" "$TWO"; ulimit -d; ulimit -n; ulimit -c; cd /proc/$$/fd; echo *
		while read -r line; do echo "$line"; done </proc/$$/status`
	cmd := confined(t, spec, "/bin/sh", "-c", say, "name", "x  y")
	cmd.ExtraFiles = append(cmd.ExtraFiles, os.Stdin, os.Stdin) // which nobody wanted to pass on
	text := output(t, cmd)
	// Of the open files, 4 is the folder that it lists.
	begin := fmt.Sprintf("%d name x  y 1 a b\n1048576\n77\n0\n0 1 2 3 4\n", cmd.Process.Pid)
	if !strings.HasPrefix(text, begin) {
		t.Errorf("it says %s\nwant it to begin with %s", text, begin)
	}
	for _, want := range []string{"NoNewPrivs:\t1", "Seccomp:\t2", fmt.Sprintf("PPid:\t%d", os.Getpid())} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("it says %s\nwant %s", text, want)
		}
	}
}

// TestRefuses are specs that cannot hold: nothing starts.
func TestRefuses(t *testing.T) {
	requireWalls(t)
	s := newScene(t)
	gone, orphan := s.spec(), s.spec()
	gone.Write = append(gone.Write, filepath.Join(s.own, "nothing"))
	orphan.Parent = 1
	for _, c := range []struct {
		name string
		spec confine.Spec
		want string
	}{
		{"a path that is not there", gone, "nothing: no such file"},
		{"a daemon that has ended", orphan, "the daemon has ended"},
	} {
		got := output(t, confined(t, c.spec, attack, "read", "/dev/null"))
		if !strings.HasPrefix(got, "bothy-shim: ") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

func TestShimAlone(t *testing.T) {
	for _, args := range [][]string{nil, {"confine"}, {"unknown"}} {
		cmd := exec.Command(shim, args...)
		if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != 125 || !strings.HasPrefix(string(out), "bothy-shim: ") {
			t.Errorf("%q: %v %s", args, err, out)
		}
	}
}

// asParent makes the test binary a daemon that starts one confined process and
// is then killed.
const asParent = "CONFINE_TEST_PARENT"

func TestEndsWithItsParent(t *testing.T) {
	requireWalls(t)
	s := newScene(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestParent$")
	spec, err := json.Marshal(s.spec())
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), asParent+"="+string(spec), "ATTACK="+attack, "SHIM="+shim)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "ready" {
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() { // ends when the last process that holds it has
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the parent was not killed")
	}
}

// TestParent is no test of its own: it is the parent of the one above.
func TestParent(t *testing.T) {
	text := os.Getenv(asParent)
	if text == "" {
		t.Skip("only as the parent that TestEndsWithItsParent kills")
	}
	attack, shim = os.Getenv("ATTACK"), os.Getenv("SHIM")
	var spec confine.Spec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		t.Fatal(err)
	}
	spec.Parent = os.Getpid()
	runtime.LockOSThread()
	cmd := confined(t, spec, attack, "sleep")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	t.Error(cmd.Run())
}

// TestPlantedLink: what a plugin may write can hold something of its block's, and
// a link that it puts in that place gives it nothing the next time.
func TestPlantedLink(t *testing.T) {
	requireWalls(t)
	for _, apart := range []bool{true, false} {
		for _, place := range []string{"inner", "inner/most"} {
			s := newScene(t)
			spec := s.spec()
			spec.Apart, spec.BestEffort = apart, !apart
			named := filepath.Join(s.open, place)
			spec.Read = append(spec.Read, named)
			if err := os.MkdirAll(named, 0o700); err != nil {
				t.Fatal(err)
			}
			if got := output(t, confined(t, spec, attack, "list", named)); !strings.Contains(got, "worked") {
				t.Errorf("%s as it was, apart %v: %s", place, apart, got)
			}
			if err := os.RemoveAll(filepath.Join(s.open, "inner")); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(filepath.Dir(s.secret), "most"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Dir(s.secret), filepath.Join(s.open, "inner")); err != nil {
				t.Fatal(err)
			}
			if place == "inner/most" {
				if err := os.WriteFile(filepath.Join(filepath.Dir(s.secret), "most", "key"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got := output(t, confined(t, spec, attack, "list", named))
			if !strings.HasPrefix(got, "bothy-shim: ") || !strings.Contains(got, "symbolic link") {
				t.Errorf("%s as a link, apart %v: %s", place, apart, got)
			}
		}
	}
}
