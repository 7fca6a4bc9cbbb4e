package host

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/sdktest"
)

// author runs the fault plugin as its author does, with dev as its argument.
type author struct {
	cmd *exec.Cmd
	rpc.DevProcess
}

func runDev(t *testing.T) *author {
	t.Helper()
	runtime := shortDir(t)
	a := &author{cmd: exec.Command(faultBinary, "dev")}
	a.cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+runtime, "BOTHY_LISTEN_SOCKET=")
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.end)
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // it says when it serves
		t.Fatal(err)
	}
	file := filepath.Join(runtime, "bothy", "dev", "fault.json")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &a.DevProcess); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	return a
}

func (a *author) end() {
	_ = a.cmd.Process.Signal(syscall.SIGTERM) // ended already, perhaps
	_ = a.cmd.Process.Signal(syscall.SIGCONT)
	_ = a.cmd.Wait() // a second time, perhaps
}

func (a *author) spec(instance string) inspect.Spec {
	s := spec(instance, "")
	s.Path, s.Foreign = a.Path, &inspect.Foreign{Address: a.Address, PID: a.PID}
	return s
}

func statusOf(t *testing.T, r *rig, instance string) rpc.Plugin {
	t.Helper()
	for _, s := range r.Plugins() {
		if s.Instance == instance {
			return s
		}
	}
	t.Fatalf("there is no instance %s", instance)
	return rpc.Plugin{}
}

func noop(r *rig, ctx context.Context) error {
	_, err := r.Invoke(ctx, sdk.Invocation{Tool: "noop"}, &sdktest.Recorder{})
	return err
}

// TestAttach: a process of its author stands in for the instance's own, and is
// there when it is given up.
func TestAttach(t *testing.T) {
	pinned := spec("one", "")
	r := started(t, nil, pinned)
	own := statusOf(t, r, "one").PID
	a := runDev(t)
	gone, found, err := r.attachTo(t.Context(), a.spec("one"))
	if err != nil {
		t.Fatal(err, found)
	}
	if s := statusOf(t, r, "one"); s.PID != a.PID || s.Origin != "dev" || s.Pinned || s.State != Ready {
		t.Errorf("%+v", s)
	}
	if err := noop(r, t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := r.swapTo(t.Context(), pinned); err != nil {
		t.Fatal(err)
	}
	<-gone
	if s := statusOf(t, r, "one"); s.PID == a.PID || s.PID == own || s.Origin == "dev" {
		t.Errorf("%+v", s)
	}
	// It was neither drained nor ended: it can be attached again, as a new one too.
	if gone, found, err = r.attachTo(t.Context(), a.spec("two")); err != nil {
		t.Fatal(err, found)
	}
	if _, err := r.Invoke(t.Context(), sdk.Invocation{Tool: "two__noop"}, &sdktest.Recorder{}); err != nil {
		t.Error(err)
	}
	a.end()
	<-gone
	r.remove("two")
}

// TestAttachedIsNotExchanged: while the author's process stands in, the file that
// is started otherwise may change as it likes.
func TestAttachedIsNotExchanged(t *testing.T) {
	r, path, _ := spread(t, nil)
	a := runDev(t)
	dev := a.spec("fault")
	dev.Path = path
	gone, found, err := r.attachTo(t.Context(), dev)
	if err != nil {
		t.Fatal(err, found)
	}
	locked := spec("fault", "")
	locked.Locked = &config.Locked{}
	i, err := r.instance("fault")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []inspect.Spec{spec("fault", ""), locked} {
		if !r.goesOn(i, s) {
			t.Errorf("locked %v: it must be exchanged", s.Locked != nil)
		}
	}
	_, before := r.serving("fault")
	copyFile(t, another(t), path)
	i.recheck()
	eventually(t, "it looked", func() bool { return !i.waiting() })
	if a := r.replace(t, dev); a.How != Unchanged || a.Generation != before {
		t.Errorf("%+v, was of generation %d", a, before)
	}
	select {
	case <-gone:
		t.Error("the process was given up")
	default:
	}
}

// TestBreakpoint: a process that stands still is not taken to hang, and a call
// outlives its deadline.
func TestBreakpoint(t *testing.T) {
	r := newRig(t, func(c *Config) { c.HealthInterval, c.CancelGrace = 10*time.Millisecond, 10*time.Millisecond })
	a := runDev(t)
	gone, found, err := r.attachTo(t.Context(), a.spec("one"))
	if err != nil {
		t.Fatal(err, found)
	}
	if err := a.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond) // many heartbeats
	defer cancel()
	called := make(chan error, 1)
	go func() { called <- noop(r, ctx) }()
	<-ctx.Done()
	if err := a.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := <-called; err != nil {
		t.Error(err)
	}
	select {
	case <-gone:
		t.Error("the process was given up")
	default:
	}
}

// TestAttachRefused: what is not the process that was named is not used, and the
// instance's own comes back.
func TestAttachRefused(t *testing.T) {
	r := started(t, nil, spec("one", ""))
	a := runDev(t)
	wrong := map[string]func(*inspect.Spec){
		"another process": func(s *inspect.Spec) { s.Foreign.PID = os.Getpid() },
		"no socket":       func(s *inspect.Spec) { s.Foreign.Address += "x" },
		"no binary":       func(s *inspect.Spec) { s.Path += "x" },
	}
	for name, spoil := range wrong {
		s := a.spec("one")
		spoil(&s)
		if _, _, err := r.attachTo(t.Context(), s); sdk.OutcomeOf(err) != sdk.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := r.swapTo(t.Context(), spec("one", "")); err != nil {
			t.Fatal(err)
		}
		if s := statusOf(t, r, "one"); s.State != Ready || s.Origin == "dev" {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if !strings.Contains(a.Path, "fault") || a.Protocol != 1 {
		t.Errorf("%+v", a.DevProcess)
	}
}
