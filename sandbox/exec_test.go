//go:build linux

package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sandbox"
)

func TestCommandRunsInTheContainer(t *testing.T) {
	f := newFixture(t, shared(t))
	out := f.bash("id -u; touch /x; echo hi > /workspace/a; echo err >&2; exit 3")
	if out.ExitCode != 3 || out.stdout != "1000\n" || !strings.HasSuffix(out.stderr, "err\n") || !strings.Contains(out.stderr, "Read-only file system") {
		t.Fatalf("got %+v", out)
	}
}

func TestOutputIsByteExact(t *testing.T) {
	f := newFixture(t, shared(t))
	out := f.bash(`printf '\x00\xff\xfe\r\n\xc3'; printf 'e\x00' >&2`)
	if out.stdout != "\x00\xff\xfe\r\n\xc3" || out.stderr != "e\x00" {
		t.Fatalf("got %q %q", out.stdout, out.stderr)
	}
}

func TestOutputIsCappedAndCounted(t *testing.T) {
	f := newFixture(t, shared(t))
	const total = 50_000_000
	for name, c := range map[string]struct {
		script                    string
		cap                       int64
		stdout, dropped           int64
		stderrKept, stderrDropped int64
	}{
		"defaults": {fmt.Sprintf("head -c %d /dev/zero; head -c 20000000 /dev/zero >&2", total), 0,
			sandbox.DefaultStdoutCap, total - sandbox.DefaultStdoutCap, sandbox.DefaultStderrCap, 20_000_000 - sandbox.DefaultStderrCap},
		"exactly at the cap": {"head -c 1000 /dev/zero", 1000, 1000, 0, 0, 0},
		"one above":          {"head -c 1001 /dev/zero", 1000, 1000, 1, 0, 0},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			f.t = t
			out := f.exec(t.Context(), sandbox.Command{Argv: []string{"bash", "-c", c.script}, StdoutCap: c.cap})
			if out.err != nil || out.ExitCode != 0 {
				t.Fatalf("got %+v", out.Result)
			}
			if int64(len(out.stdout)) != c.stdout || out.StdoutDropped != c.dropped ||
				int64(len(out.stderr)) != c.stderrKept || out.StderrDropped != c.stderrDropped {
				t.Fatalf("stdout %d dropped %d, stderr %d dropped %d", len(out.stdout), out.StdoutDropped, len(out.stderr), out.StderrDropped)
			}
		})
	}
}

func TestEndlessOutputEndsAtTheTimeout(t *testing.T) {
	f := newFixture(t, shared(t))
	f.ok("true")
	const most = 1 << 10 // of more, a busy machine may not write all in a second
	out := f.exec(t.Context(), sandbox.Command{Argv: []string{"yes"}, Timeout: time.Second, StdoutCap: most})
	if out.err != nil || !out.TimedOut || out.StdoutDropped == 0 || len(out.stdout) != most {
		t.Fatalf("got %+v with %d bytes", out.Result, len(out.stdout))
	}
}

// TestNothingOutlivesItsCommand is the kill semantics: whatever a command does
// to get away, it is dead when the result is there.
func TestNothingOutlivesItsCommand(t *testing.T) {
	f := newFixture(t, shared(t))
	f.ok("true")
	getAway := `(setsid bash -c 'while :; do sleep 0.01; echo x >>/workspace/beat; done' >/dev/null 2>&1 &) ; (trap "" TERM HUP; setsid sleep 600 & disown) & `
	for name, c := range map[string]struct {
		script  string
		timeout time.Duration
		timed   bool
		left    bool
	}{
		"daemonised, then a timeout": {getAway + "sleep 600", time.Second, true, true},
		"daemonised, then success":   {getAway + "sleep 0.2", time.Minute, false, true},
		"stdout held open":           {"setsid sleep 600 & echo out", time.Minute, false, true},
		"fork bomb":                  {"b() { b | b & }; b; sleep 600", 2 * time.Second, true, true},
		// The read keeps bash from reaping its child in the moment in which both are killed.
		"signals ignored": {`trap "" TERM INT HUP; sleep 600 & read -r < <(sleep 600)`, time.Second, true, true},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			f.t = t
			out := f.exec(t.Context(), sandbox.Command{Argv: []string{"bash", "-c", c.script}, Timeout: c.timeout})
			if out.err != nil || out.TimedOut != c.timed || (out.Leftovers > 0) != c.left {
				t.Fatalf("got %+v %v\n%s\n%s", out.Result, out.err, out.stdout, out.stderr)
			}
			if left := f.ok("ps -e -o args= | grep -E 'sleep|bash -c (while|b)' | grep -v grep; echo end"); left != "end" {
				t.Errorf("still there:\n%s", left)
			}
			f.ok("rm -f beat; sleep 0.1; test ! -e beat")
		})
	}
}

func TestCancelEndsTheCommand(t *testing.T) {
	f := newFixture(t, shared(t))
	f.ok("true")
	ctx, cancel := context.WithCancel(t.Context())
	var once sync.Once
	r, err := f.manager.Exec(ctx, f.run, sandbox.Command{Argv: []string{"bash", "-c", "echo started; sleep 600"}}, func(int, []byte) { once.Do(cancel) })
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %+v %v", r, err)
	}
	f.ok("test -z \"$(ps -e -o args= | grep '[s]leep 600')\"")
}

func TestCommandsOfOneRunWaitForEachOther(t *testing.T) {
	f := newFixture(t, shared(t))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if out := f.exec(t.Context(), sandbox.Command{Argv: []string{"bash", "-c", "mkdir /tmp/alone && sleep 0.05 && rmdir /tmp/alone"}}); out.err != nil || out.ExitCode != 0 {
				t.Errorf("got %+v %v: %s", out.Result, out.err, out.stderr)
			}
		})
	}
	all.Wait()
}

func TestRunsDoNotSeeEachOther(t *testing.T) {
	m := shared(t)
	a, b := newFixture(t, m), newFixture(t, m)
	b.run.RunID += "-b"
	a.ok("echo secret >/workspace/a; echo secret >/tmp/a; echo secret >~/a; echo secret >/dev/shm/a")
	done := make(chan outcome, 1)
	started := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		var once sync.Once
		r, err := m.Exec(ctx, a.run, sandbox.Command{Argv: []string{"bash", "-c", "echo on; exec -a visible sleep 600"}}, func(int, []byte) { once.Do(func() { close(started) }) })
		done <- outcome{Result: r, err: err}
	}()
	<-started
	b.ok("! test -e /workspace/a && ! test -e /tmp/a && ! test -e ~/a && ! test -e /dev/shm/a")
	b.ok("! ps -e -o args= | grep '[v]isible'")
	cancel()
	if out := <-done; !errors.Is(out.err, context.Canceled) {
		t.Fatal(out.err)
	}
	if err := m.Drop(context.Background(), b.run.RunID); err != nil {
		t.Error(err)
	}
}

func TestResetTakesEverythingButTheProject(t *testing.T) {
	f := newFixture(t, shared(t))
	f.ok("echo p >/workspace/p; echo h >~/h; mkdir -p ~/ro/x; touch ~/ro/x/f; chmod 500 ~/ro/x ~/ro; echo t >/tmp/t")
	if err := f.manager.Drop(t.Context(), f.run.RunID); err != nil {
		t.Fatal(err)
	}
	f.ok("test -e /workspace/p && test -e ~/h && ! test -e /tmp/t && echo t >/tmp/t")
	if err := f.manager.Reset(t.Context(), f.run); err != nil {
		t.Fatal(err)
	}
	f.ok("test -e /workspace/p && ! test -e ~/h && ! test -e ~/ro && ! test -e /tmp/t")
	left, err := filepath.Glob(filepath.Join(f.run.RunDir, ".home-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestResetEndsWhatRuns(t *testing.T) {
	f := newFixture(t, shared(t))
	started := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		var once sync.Once
		_, err := f.manager.Exec(t.Context(), f.run, sandbox.Command{Argv: []string{"bash", "-c", "echo on; sleep 600"}}, func(int, []byte) { once.Do(func() { close(started) }) })
		done <- err
	}()
	<-started
	if err := f.manager.Reset(t.Context(), f.run); err != nil {
		t.Fatal(err)
	}
	if err := <-done; sandbox.Code(err) != sandbox.CodeLost {
		t.Fatalf("got %v", err)
	}
}

func TestPrivateWorkspace(t *testing.T) {
	f := newFixture(t, shared(t))
	f.run.Project = ""
	f.ok("echo x >/workspace/x")
	if _, err := os.Stat(filepath.Join(f.run.RunDir, "workspace", "x")); err != nil {
		t.Fatal(err)
	}
	if err := f.manager.Reset(t.Context(), f.run); err != nil {
		t.Fatal(err)
	}
	if got := f.ok("ls -A /workspace"); got != "" {
		t.Fatalf("after the reset: %q", got)
	}
}

func TestSkillsAppearReadOnly(t *testing.T) {
	f := newFixture(t, shared(t))
	f.ok("test -d /skills")
	skill := filepath.Join(f.run.RunDir, "skills", "pdf")
	if err := os.MkdirAll(skill, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(skill, "run.sh"), []byte("echo from the skill"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := f.ok("bash /skills/pdf/run.sh; ! touch /skills/pdf/x 2>/dev/null"); got != "from the skill" {
		t.Fatalf("got %q", got)
	}
}

func TestDirectories(t *testing.T) {
	f := newFixture(t, shared(t))
	f.write("sub/file", "x")
	for dir, want := range map[string]string{"": "/workspace", "sub": "/workspace/sub", "/tmp": "/tmp"} {
		out := f.exec(t.Context(), sandbox.Command{Argv: []string{"pwd"}, Dir: dir})
		if out.err != nil || strings.TrimSpace(out.stdout) != want {
			t.Errorf("%q: got %q %v", dir, out.stdout, out.err)
		}
	}
	out := f.exec(t.Context(), sandbox.Command{Argv: []string{"pwd"}, Dir: "missing"})
	if sandbox.Code(out.err) != sandbox.CodeInvalid || !strings.Contains(out.err.Error(), "/workspace/missing does not exist") {
		t.Errorf("a missing directory: %v", out.err)
	}
	out = f.exec(t.Context(), sandbox.Command{Argv: []string{"no-such-program"}})
	if sandbox.Code(out.err) != sandbox.CodeNotStarted || !strings.Contains(out.err.Error(), "not found") {
		t.Errorf("a missing program: %v", out.err)
	}
}

func TestSlowSinkLosesNothing(t *testing.T) {
	f := newFixture(t, shared(t))
	f.ok("true")
	var got int
	first := true
	r, err := f.manager.Exec(t.Context(), f.run, sandbox.Command{Argv: []string{"head", "-c", "3000000", "/dev/zero"}, Timeout: time.Minute}, func(_ int, data []byte) {
		if first {
			first = false
			pause(t, 2500*time.Millisecond)
		}
		got += len(data)
	})
	if err != nil || r.ExitCode != 0 || got != 3000000 {
		t.Fatalf("got %d bytes, %+v %v", got, r, err)
	}
}

// pause stands for a slow reader; it is no wait for something to happen.
func pause(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}

// TestWhatIsThisMachines: a command has this machine's kernel, and reads the programs of
// its /usr.
func TestWhatIsThisMachines(t *testing.T) {
	f := newFixture(t, shared(t))
	version, err := os.ReadFile("/proc/version")
	if err != nil {
		t.Fatal(err)
	}
	if got := f.ok("cat /proc/version"); got != strings.TrimSpace(string(version)) {
		t.Errorf("the kernel is %q, and here %q", got, version)
	}
	entries, err := os.ReadDir("/usr/bin")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := f.ok("LC_ALL=C ls -A /usr/bin"); got != strings.Join(names, "\n") {
		t.Errorf("/usr/bin has other programs than here: %d bytes of names", len(got))
	}
	program, err := os.ReadFile("/usr/bin/env")
	if err != nil {
		t.Fatal(err)
	}
	if out := f.bash("cat /usr/bin/env"); out.stdout != string(program) {
		t.Error("/usr/bin/env is another program than here")
	}
}

// TestMountsTellPathsOfTheHost, which docs/security.md says, and no more than that:
// nothing lies there inside.
func TestMountsTellPathsOfTheHost(t *testing.T) {
	f := newFixture(t, shared(t))
	home := filepath.Join(f.run.RunDir, "home")
	out := f.bash("grep -o '[^ ]*/run/home ' /proc/self/mountinfo; ls -d " + home)
	told := strings.TrimSpace(out.stdout)
	if told == "" || !strings.HasSuffix(home, told) || out.ExitCode == 0 {
		t.Errorf("it was told of %q, which ls finds with status %d", told, out.ExitCode)
	}
}
