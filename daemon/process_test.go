package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/logfile"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// place is where the real binaries run in a test: folders and an environment of
// its own, and a configuration without plugins, so that a start costs little.
type place struct {
	prefix, home, runtime string
	socket, log           string
	env                   []string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{prefix: installation(t), home: t.TempDir()}
	var err error
	if p.runtime, err = os.MkdirTemp("/tmp", "bp-"); err != nil { // short: a socket's path ends at 107 bytes
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(p.runtime) })
	p.socket = filepath.Join(p.runtime, "bothy", rpc.SocketName)
	p.log = filepath.Join(p.home, ".local/state/bothy/bothyd.log")
	p.env = []string{"HOME=" + p.home, "XDG_RUNTIME_DIR=" + p.runtime, "BOTHY_PREFIX=" + p.prefix, "PATH=" + os.Getenv("PATH")}
	p.env = append(p.env, asksNobody...)
	p.write(t, ".config/bothy/config.hcl", "plugin \"bash\" {\n  enabled = false\n}\nplugin \"files\" {\n  enabled = false\n}\n")
	p.write(t, "project/.git/HEAD", "")
	return p
}

func (p *place) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(p.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// process is a bothyd that was started.
type process struct {
	cmd   *exec.Cmd
	err   bytes.Buffer
	ended chan struct{}
}

// start starts the command, in front of which another one may stand.
func (p *place) start(t *testing.T, before ...string) *process {
	t.Helper()
	args := append(before, filepath.Join(p.prefix, "bin", "bothyd"))
	d := &process{cmd: exec.Command(args[0], args[1:]...), ended: make(chan struct{})}
	d.cmd.Env, d.cmd.Dir, d.cmd.Stderr = p.env, p.home, &d.err
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = d.cmd.Wait() // the code says it
		close(d.ended)
	}()
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill() // it has ended, unless the test failed
		<-d.ended
	})
	return d
}

func (d *process) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := d.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
}

// code waits for the end and gives the exit code, -1 for a signal.
func (d *process) code(t *testing.T) int {
	t.Helper()
	select {
	case <-d.ended:
		return d.cmd.ProcessState.ExitCode()
	case <-time.After(30 * time.Second):
		t.Fatalf("bothyd (pid %d) does not end", d.cmd.Process.Pid)
		return 0
	}
}

// serving waits until somebody greets at the socket, and says who.
func (p *place) serving(t *testing.T) int {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-time.After(5 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		cl := &client.Client{Socket: p.socket}
		hello, err := cl.Hello(ctx)
		cancel()
		_ = cl.Close() // only its greeting was wanted
		if err == nil {
			return hello.PID
		}
	}
	log, _ := os.ReadFile(p.log)
	t.Fatalf("nobody serves %s; the log has\n%s", p.socket, log)
	return 0
}

// bothy runs the command line in the project and returns what it printed.
func (p *place) bothy(args ...string) (string, error) {
	cmd := exec.Command(filepath.Join(p.prefix, "bin", "bothy"), args...)
	cmd.Env, cmd.Dir = p.env, filepath.Join(p.home, "project")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestTwoDaemons starts two at the same moment, many times, on what their
// predecessors left: one serves, the other names it and exits with the code
// that is documented.
func TestTwoDaemons(t *testing.T) {
	p := newPlace(t)
	rounds := 50
	if testing.Short() {
		rounds = 5
	}
	for round := range rounds {
		pair := []*process{p.start(t), p.start(t)}
		winner, loser := pair[0], pair[1]
		select {
		case <-pair[0].ended:
			winner, loser = pair[1], pair[0]
		case <-pair[1].ended:
		case <-time.After(30 * time.Second):
			t.Fatal("both go on")
		}
		if code := loser.code(t); code != rpc.ExitRunning {
			t.Fatalf("round %d: the second one exits with %d: %s", round, code, &loser.err)
		}
		if want := fmt.Sprintf("pid %d ", winner.cmd.Process.Pid); !strings.Contains(loser.err.String(), want) {
			t.Fatalf("round %d: the second one does not name %s: %s", round, want, &loser.err)
		}
		if pid := p.serving(t); pid != winner.cmd.Process.Pid {
			t.Fatalf("round %d: %d serves, and %d was started", round, pid, winner.cmd.Process.Pid)
		}
		if round%2 == 0 {
			winner.signal(t, syscall.SIGKILL) // leaves its socket and its pid
			winner.code(t)
			continue
		}
		winner.signal(t, syscall.SIGTERM)
		if code := winner.code(t); code != 0 {
			t.Fatalf("round %d: the first one exits with %d: %s", round, code, &winner.err)
		}
	}
}

// TestManyCallers: fifty that find no daemon at the same moment are served by
// the same one.
func TestManyCallers(t *testing.T) {
	p := newPlace(t)
	callers := 50
	if testing.Short() {
		callers = 8
	}
	var wait sync.WaitGroup
	for range callers {
		wait.Go(func() {
			if out, err := p.bothy("tools", "list"); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wait.Wait()
	log, err := os.ReadFile(p.log)
	if err != nil {
		t.Fatal(err)
	}
	if served := strings.Count(string(log), "bothyd: serving:"); served != 1 {
		t.Errorf("%d daemons served:\n%s", served, log)
	}
	if out, err := p.bothy("stop"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestRemovedSocket: what a cleaner of temporary files took is made again, and
// who calls meanwhile is served by the same daemon.
func TestRemovedSocket(t *testing.T) {
	p := newPlace(t)
	d := p.start(t)
	pid := p.serving(t)
	if err := os.Remove(p.socket); err != nil {
		t.Fatal(err)
	}
	if out, err := p.bothy("status"); err == nil || !strings.Contains(out, fmt.Sprintf("pid %d) runs and has no socket", pid)) {
		t.Errorf("status: %v %s", err, out)
	}
	if out, err := p.bothy("tools", "list"); err != nil || !strings.Contains(out, "makes it again") {
		t.Errorf("%v: %s", err, out)
	}
	if now := p.serving(t); now != pid {
		t.Errorf("process %d serves, and %d did", now, pid)
	}
	d.signal(t, syscall.SIGTERM)
	if code := d.code(t); code != 0 {
		t.Errorf("exit %d", code)
	}
	if _, err := os.Lstat(p.socket); err == nil {
		t.Error("the socket is still there")
	}
}

// TestStopSignals: whatever a daemon does when a signal comes, it ends with the
// code that is documented, and the next one serves.
func TestStopSignals(t *testing.T) {
	p := newPlace(t)
	end := func(code int, want ...int) {
		t.Helper()
		for _, w := range want {
			if code == w {
				return
			}
		}
		log, _ := os.ReadFile(p.log)
		t.Fatalf("exit %d, want one of %v; the log has\n%s", code, want, log)
	}
	for range 8 { // while it starts: -1 is a signal before the process could take any
		d := p.start(t)
		<-time.After(rand.N(60 * time.Millisecond))
		d.signal(t, syscall.SIGTERM)
		end(d.code(t), 0, -1)
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		d := p.start(t)
		p.serving(t)
		d.signal(t, syscall.SIGHUP)
		d.signal(t, sig)
		end(d.code(t), 0)
	}
	for range 4 { // twice, within a millisecond
		d := p.start(t)
		p.serving(t)
		d.signal(t, syscall.SIGTERM)
		d.signal(t, syscall.SIGINT)
		end(d.code(t), 0, 3)
	}
	d := p.start(t)
	p.serving(t)
	if out, err := p.bothy("stop", "--now", "--json"); err != nil || !strings.Contains(out, `"killed": false`) {
		t.Errorf("stop --now: %v %s", err, out)
	}
	end(d.code(t), 3)
	d = p.start(t)
	p.serving(t)
	d.signal(t, syscall.SIGSTOP) // it hears nothing at all
	if out, err := p.bothy("stop", "--now", "--json"); err != nil || !strings.Contains(out, `"killed": true`) {
		t.Errorf("stop --now: %v %s", err, out)
	}
	end(d.code(t), -1)
}

// TestCrash: a daemon that dies by a mistake of its own, for which SIGQUIT
// stands here, exits with an error; the next one serves, logs how it died, and
// says so as long as it runs.
func TestCrash(t *testing.T) {
	p := newPlace(t)
	d := p.start(t)
	p.serving(t)
	d.signal(t, syscall.SIGQUIT)
	if code := d.code(t); code <= 0 {
		t.Errorf("exit %d", code)
	}
	if out, err := p.bothy("tools", "list"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := p.bothy("status"); err != nil || !strings.Contains(out, "died by a mistake of its own") {
		t.Errorf("status: %v %s", err, out)
	}
	if out, err := p.bothy("logs", "--level", "error"); err != nil || !strings.Contains(out, "goroutine ") || !strings.Contains(out, "SIGQUIT") {
		t.Errorf("logs: %v %s", err, out)
	}
	for range 2 { // it is told once, whether the next one is killed or stopped
		if out, err := p.bothy("stop"); err != nil {
			t.Errorf("stop: %v %s", err, out)
		}
		if out, err := p.bothy("tools", "list"); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		if out, err := p.bothy("status"); err != nil || strings.Contains(out, "died") {
			t.Errorf("status: %v %s", err, out)
		}
	}
	if out, err := p.bothy("stop"); err != nil {
		t.Errorf("stop: %v %s", err, out)
	}
}

// TestSecondSocket: a daemon that is started with another socket on the same
// state ends, and takes nothing of the one that serves: how that one dies is
// still written down.
func TestSecondSocket(t *testing.T) {
	p := newPlace(t)
	first := p.start(t)
	p.serving(t)
	other := *p
	other.env = append(slices.Clone(p.env), "XDG_RUNTIME_DIR="+t.TempDir())
	second := other.start(t)
	if code := second.code(t); code != 1 || !strings.Contains(second.err.String(), "bothy.db") {
		t.Errorf("exit %d: %s", code, &second.err)
	}
	first.signal(t, syscall.SIGQUIT)
	first.code(t)
	if text := logfile.Crash(filepath.Join(filepath.Dir(p.log), logfile.CrashName)); !strings.Contains(text, "SIGQUIT") {
		t.Errorf("the crash file has %q", text)
	}
}

// TestUnwritableLog: a log that cannot be written costs its lines; the daemon
// serves and says so, and what bothy logs shows says what is missing.
func TestUnwritableLog(t *testing.T) {
	p := newPlace(t)
	p.write(t, ".local/state/bothy/bothyd.log/x", "")
	if out, err := p.bothy("tools", "list"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := p.bothy("status"); err != nil || !strings.Contains(out, "the log cannot be written") {
		t.Errorf("status: %v %s", err, out)
	}
	if out, err := p.bothy("logs"); err == nil || !strings.Contains(out, "is a directory") {
		t.Errorf("logs: %v %s", err, out)
	}
	if err := os.RemoveAll(p.log); err != nil {
		t.Fatal(err)
	}
	if out, err := p.bothy("stop"); err != nil {
		t.Errorf("stop: %v %s", err, out)
	}
	if out, err := p.bothy("logs"); err != nil || !strings.Contains(out, "lost=") || !strings.Contains(out, "stopping") {
		t.Errorf("logs: %v %s", err, out)
	}
}

// TestFewDescriptors: a daemon that may have few files open is not kept busy by
// more clients than it can accept, serves when they go, and keeps its store.
func TestFewDescriptors(t *testing.T) {
	p := newPlace(t)
	d := p.start(t, "sh", "-c", `ulimit -n 64 && exec "$0"`)
	pid := p.serving(t)
	var conns []net.Conn
	for range 120 {
		c, err := net.Dial("unix", p.socket)
		if err != nil {
			break // the queue of the socket is full, too
		}
		conns = append(conns, c)
	}
	if len(conns) < 60 {
		t.Fatalf("only %d connections", len(conns))
	}
	deadline := time.Now().Add(time.Minute)
	for log := ""; !strings.Contains(log, "wait=1s"); <-time.After(20 * time.Millisecond) { // it tries less and less often
		text, err := os.ReadFile(p.log)
		if log = string(text); err != nil || time.Now().After(deadline) {
			t.Fatalf("it never tried to accept once in a second: %v\n%s", err, log)
		}
	}
	for _, c := range conns {
		_ = c.Close() // nothing was said
	}
	if now := p.serving(t); now != pid {
		t.Errorf("process %d serves, and %d did", now, pid)
	}
	out, err := p.bothy("tools", "call", "nothing")
	if err == nil || !strings.Contains(out, "nothing") {
		t.Errorf("%v: %s", err, out)
	}
	d.signal(t, syscall.SIGTERM)
	if code := d.code(t); code != 0 {
		t.Errorf("exit %d: %s", code, &d.err)
	}
	d = p.start(t)
	p.serving(t)
	d.signal(t, syscall.SIGTERM)
	d.code(t)
}
