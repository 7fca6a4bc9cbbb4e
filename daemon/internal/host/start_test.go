package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/inspect"
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
	syscall.ForkLock.RLock() // a child that was begun meanwhile would hold the file open for writing, and it could not be run
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, b, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestStartMended: what was wrong with a start is taken back when the next one
// succeeds, whether Start told it or Diagnose.
func TestStartMended(t *testing.T) {
	var mu sync.Mutex
	told := map[inspect.Diagnostic]bool{}
	r := newRig(t, func(cfg *Config) {
		cfg.Diagnose = func(d inspect.Diagnostic) { mu.Lock(); told[d] = true; mu.Unlock() }
		cfg.Mended = func(d inspect.Diagnostic) { mu.Lock(); delete(told, d); mu.Unlock() }
	})
	twice := spec("twice", "once="+filepath.Join(t.TempDir(), "tried"))
	twice.Grants = nil // asks for one, of which it is warned as long as it runs
	for _, d := range r.start(context.Background(), []inspect.Spec{twice}) {
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

// TestStartGivenUp: Stop while plugins start leaves nothing.
func TestStartGivenUp(t *testing.T) {
	r := newRig(t, func(cfg *Config) { cfg.Patience = 50 * time.Millisecond })
	r.start(context.Background(), []inspect.Spec{spec("a", "silent"), spec("b", "slow=10s")})
	r.Stop(context.Background())
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
	r.start(context.Background(), []inspect.Spec{spec("more", "")})
	if again := r.Supervisor.begin(spec("fault", "")); again != nil {
		t.Error("a second plugin has the same label")
	}
	r.mustCall(t, "more__noop", ``)
	r.Stop(context.Background())
	if found := r.start(context.Background(), []inspect.Spec{spec("late", "")}); len(found) > 0 || len(r.Plugins()) != 2 {
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

// TestNamedPipe: what lies in the place of a binary is never waited for.
func TestNamedPipe(t *testing.T) {
	r := newRig(t, nil)
	s := spec("fault", "")
	s.Path = filepath.Join(t.TempDir(), "bothy-plugin-fault")
	if err := syscall.Mkfifo(s.Path, 0o700); err != nil {
		t.Fatal(err)
	}
	found := r.start(context.Background(), []inspect.Spec{s})
	if len(found) != 1 || !strings.Contains(found[0].Error(), "is not a file") {
		t.Errorf("%v", found)
	}
	if err := os.Remove(s.Path); err != nil {
		t.Fatal(err)
	}
}
