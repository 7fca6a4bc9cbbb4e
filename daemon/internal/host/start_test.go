package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

func sha256Of(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func copyOf(t testing.TB, mode os.FileMode) string {
	t.Helper()
	b, err := os.ReadFile(faultBinary)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "bothy-plugin-copy")
	if err := os.WriteFile(path, b, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// failedStart is a plugin that does not start, with what its one diagnostic says.
type failedStart struct {
	name  string
	spec  Spec
	state State // what it ends in; empty where it is tried again
	want  []string
}

func failedStarts(t *testing.T) []failedStart {
	t.Helper()
	foreign := copyOf(t, 0o700)
	patch(t, foreign, 18, 0xf3) // e_machine: RISC-V
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(faultBinary, link); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("just words"), 0o700); err != nil {
		t.Fatal(err)
	}
	return []failedStart{
		{name: "garbage", spec: spec("x", "garbage"), state: Broken, want: []string{"no handshake", `\x1b]0;garbage`, "and more"}},
		{name: "print", spec: spec("x", "print"), state: Broken, want: []string{"starting up ...", "print nothing before"}},
		{name: "exit", spec: spec("x", "exit"), want: []string{"exit status 3", "no licence found"}},
		{name: "version", spec: spec("x", "version"), state: Broken, want: []string{`have "7", want "1"`, "plugin protocol"}},
		{name: "core", spec: spec("x", "core"), state: Broken, want: []string{`have "9", want "1"`, "core protocol"}},
		{name: "netrpc", spec: spec("x", "netrpc"), state: Broken, want: []string{`have "netrpc", want "grpc"`}},
		{name: "tcp", spec: spec("x", "tcp"), want: []string{"PLUGIN_UNIX_SOCKET_DIR"}},
		{name: "silent", spec: spec("x", "silent"), want: []string{"did not start in time"}},
		{name: "too slow", spec: spec("x", "slow=30s"), want: []string{"did not start in time"}},
		{name: "missing", spec: Spec{Instance: "x", Plugin: "absent"}, state: Broken, want: []string{"/one/bothy-plugin-absent and /two/bothy-plugin-absent"}},
		{name: "missing path", spec: Spec{Instance: "x", Path: "/nowhere/p"}, state: Broken, want: []string{"/nowhere/p"}},
		{name: "relative path", spec: Spec{Instance: "x", Path: "p"}, state: Broken, want: []string{"not absolute"}},
		{name: "folder", spec: Spec{Instance: "x", Path: t.TempDir()}, state: Broken, want: []string{"is not a file"}},
		{name: "not executable", spec: Spec{Instance: "x", Path: copyOf(t, 0o600)}, state: Broken, want: []string{"chmod +x"}},
		{name: "open to all", spec: Spec{Instance: "x", Path: copyOf(t, 0o777)}, state: Broken, want: []string{"chmod o-w"}},
		{name: "wrong machine", spec: Spec{Instance: "x", Path: foreign}, state: Broken, want: []string{"built for EM_RISCV"}},
		{name: "no program", spec: Spec{Instance: "x", Path: text}, state: Broken, want: []string{"neither a program"}},
		{name: "symbolic link", spec: Spec{Instance: "x", Path: link}, state: Broken, want: []string{"symbolic link to " + faultBinary}},
		{name: "pin", spec: Spec{Instance: "x", Path: faultBinary, SHA256: strings.Repeat("0", 64)}, state: Broken, want: []string{"pins 0000", sha256Of(t, faultBinary)}},
		{name: "same label", spec: spec("healthy", ""), want: []string{"a second plugin is called"}},
	}
}

// Faults 5, 6, 7, 13, 14: each is one diagnostic that says what to do, and the
// healthy neighbour never notices.
func TestFailedStart(t *testing.T) {
	for _, c := range failedStarts(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(cfg *Config) {
				cfg.StartTimeout, cfg.Libexec = 2*time.Second, []string{"/one", "/two"}
			})
			found := r.Start(context.Background(), []Spec{spec("healthy", ""), c.spec})
			if len(found) != 1 {
				t.Fatalf("%d diagnostics, want one: %v", len(found), found)
			}
			whole := found[0].Summary + ": " + found[0].Detail
			for _, w := range c.want {
				if !strings.Contains(whole, w) {
					t.Errorf("%q lacks %q", whole, w)
				}
			}
			if len(whole) > 2000 {
				t.Errorf("the diagnostic has %d bytes", len(whole))
			}
			if strings.ContainsRune(whole, '\x1b') {
				t.Error("the diagnostic carries control characters")
			}
			if c.state != "" {
				eventually(t, "it is broken", func() bool { return r.status(t, "x").State == c.state })
				_, err := r.call(t, "x__noop", ``)
				wantOutcome(t, err, sdk.NotFound)
				if !strings.Contains(err.Error(), "Plugins that do not run: x") {
					t.Errorf("the error does not name the broken plugin: %v", err)
				}
			}
			r.mustCall(t, "noop", ``)
		})
	}
}

func patch(t *testing.T, path string, offset int64, b byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{b}, offset); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// Fault 7: a slow plugin holds nobody up.
func TestSlowStart(t *testing.T) {
	r := newRig(t, func(cfg *Config) { cfg.Patience = 300 * time.Millisecond })
	began := time.Now()
	if found := r.Start(context.Background(), []Spec{spec("slow", "slow=2s"), spec("fast", "")}); len(found) > 0 {
		t.Fatal(found)
	}
	if d := time.Since(began); d > 2*time.Second {
		t.Errorf("Start took %v", d)
	}
	if st := r.status(t, "slow"); st.State != Starting {
		t.Errorf("the slow one is %s", st.State)
	}
	r.mustCall(t, "fast__noop", ``)
	eventually(t, "the slow one is ready", func() bool { return r.status(t, "slow").State == Ready })
	r.mustCall(t, "slow__noop", ``)
	if tools := r.Tools(); tools[0].Plugin != "slow" || tools[0].Name != "noop" {
		t.Errorf("the first configured has not the bare name: %+v", tools[0])
	}
}

// Fault 2: a plugin that keeps crashing is given up, and says so.
func TestCrashLoop(t *testing.T) {
	told := make(chan Diagnostic, 1000) // more than it takes: the host waits for who is told
	r := newRig(t, func(cfg *Config) { cfg.Diagnose = func(d Diagnostic) { told <- d } })
	r.Start(context.Background(), []Spec{spec("loop", "dies"), spec("fault", "")})
	eventually(t, "it is broken", func() bool { return r.status(t, "loop").State == Broken })
	st := r.status(t, "loop")
	if st.Restarts != tooMany-1 || !strings.Contains(st.Error, "crashed 5 times") || !strings.Contains(st.Error, "exit status 4") {
		t.Errorf("status %+v", st)
	}
	for d := range told {
		if strings.Contains(d.Summary, "it is broken") {
			break
		}
	}
	_, err := r.call(t, "loop__noop", ``)
	wantOutcome(t, err, sdk.Unavailable)
	r.mustCall(t, "fault__noop", ``)
}

// TestStartMended: what was wrong with a start is taken back when the next one
// succeeds, whether Start told it or Diagnose.
func TestStartMended(t *testing.T) {
	var mu sync.Mutex
	told := map[Diagnostic]bool{}
	r := newRig(t, func(cfg *Config) {
		cfg.Diagnose = func(d Diagnostic) { mu.Lock(); told[d] = true; mu.Unlock() }
		cfg.Mended = func(d Diagnostic) { mu.Lock(); delete(told, d); mu.Unlock() }
	})
	twice := spec("twice", "once="+filepath.Join(t.TempDir(), "tried"))
	twice.Grants = nil // asks for one, of which it is warned as long as it runs
	for _, d := range r.Start(context.Background(), []Spec{twice}) {
		mu.Lock()
		told[d] = true
		mu.Unlock()
	}
	eventually(t, "it serves", func() bool { return r.status(t, "twice").State == Ready })
	if st := r.status(t, "twice"); st.Restarts != 1 {
		t.Fatalf("it did not fail first: %+v", st)
	}
	mu.Lock()
	defer mu.Unlock()
	for d := range told {
		if !d.Warning() {
			t.Errorf("still told: %s: %s", d.Summary, d.Detail)
		}
	}
	if len(told) != 1 {
		t.Errorf("told %v, and the warning holds", told)
	}
}

// Fault 13: the file is replaced while it runs. The running one stays; the
// next start is refused.
func TestReplacedBinary(t *testing.T) {
	path := copyOf(t, 0o700)
	s := Spec{Instance: "x", Path: path, SHA256: "sha256:" + sha256Of(t, path)}
	r := started(t, nil, s)
	if r.status(t, "x").Pin != PinBlock {
		t.Error("it is not pinned")
	}
	other := copyOf(t, 0o700)
	patch(t, other, 18, 0xf3)
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	r.mustCall(t, "noop", ``)
	_, err := r.call(t, "crash", ``)
	wantOutcome(t, err, sdk.PluginCrashed)
	eventually(t, "the start is refused", func() bool { return r.status(t, "x").State == Broken })
	_, err = r.call(t, "noop", ``)
	wantOutcome(t, err, sdk.Unavailable)
}

// TestStartGivenUp: Stop while plugins start leaves nothing.
func TestStartGivenUp(t *testing.T) {
	r := newRig(t, func(cfg *Config) { cfg.Patience = 50 * time.Millisecond })
	r.Start(context.Background(), []Spec{spec("a", "silent"), spec("b", "slow=10s")})
	began := time.Now()
	r.Stop(context.Background())
	if d := time.Since(began); d > 2*time.Second {
		t.Errorf("Stop took %v", d)
	}
	for _, st := range r.Plugins() {
		if st.State != Stopped || st.PID != 0 {
			t.Errorf("%+v", st)
		}
	}
	if left, err := filepath.Glob(filepath.Join(r.cfg.SocketDir, socketPrefix+"*")); err != nil || len(left) > 0 {
		t.Errorf("sockets are left: %v %v", left, err)
	}
}

// TestStartMore: plugins are added while others run, and not after Stop.
func TestStartMore(t *testing.T) {
	r := started(t, nil)
	if found := r.Start(context.Background(), []Spec{spec("more", ""), spec("fault", "")}); len(found) == 0 || !strings.Contains(found[0].Summary, `a second plugin is called "fault"`) {
		t.Errorf("diagnostics %v", found)
	}
	r.mustCall(t, "more__noop", ``)
	r.Stop(context.Background())
	if found := r.Start(context.Background(), []Spec{spec("late", "")}); len(found) > 0 || len(r.Plugins()) != 2 {
		t.Errorf("started after Stop: %v %v", found, r.Plugins())
	}
}

func TestDrain(t *testing.T) {
	marks := filepath.Join(t.TempDir(), "marks")
	s := spec("fault", "")
	s.Env["FAULT_MARKS"] = marks
	r := started(t, nil, s)
	o := newOut()
	errs := make(chan error, 1)
	ctx, cancel := context.WithTimeout(context.Background(), 400*time.Millisecond)
	defer cancel()
	go func() {
		_, err := r.Invoke(ctx, sdk.Invocation{Tool: "wait"}, o)
		errs <- err
	}()
	<-o.told
	r.Stop(context.Background())
	wantOutcome(t, <-errs, sdk.Timeout) // it ran to its own end
	b, err := os.ReadFile(marks)
	if err != nil || string(b) != "configured 1\ndrained\n" {
		t.Errorf("the plugin saw %q %v", b, err)
	}
	_, err = r.call(t, "noop", ``)
	wantOutcome(t, err, sdk.Unavailable)
}

func TestSocketFolder(t *testing.T) {
	if _, err := New(Config{SocketDir: "/tmp/" + strings.Repeat("x", maxSocketDir)}); err == nil || !strings.Contains(err.Error(), "XDG_RUNTIME_DIR") {
		t.Errorf("a long folder: %v", err)
	}
	open := shortDir(t)
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{SocketDir: open}); err == nil || !strings.Contains(err.Error(), "chmod 700") {
		t.Errorf("an open folder: %v", err)
	}
	old := filepath.Join(shortDir(t), "s")
	if err := os.MkdirAll(filepath.Join(old, socketPrefix+"1"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{SocketDir: old}); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(old); err != nil || len(left) > 0 {
		t.Errorf("old sockets are left: %v %v", left, err)
	}
}
