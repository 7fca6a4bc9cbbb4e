package start

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// FailedError is a daemon that ended before it greeted.
type FailedError struct {
	Code int // of its process
	Err  error
}

func (e *FailedError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *FailedError) Unwrap() error { return e.Err }

// starter is a daemon that was started and has not answered yet.
type starter struct {
	log    string // the file that its output goes to
	begin  int64  // where in the file its output begins
	pid    int
	ended  chan struct{}  // closed when the process has ended
	code   int            // its exit code, once ended
	killed syscall.Signal // what ended it, where it did not end by itself
}

// Start runs bothyd detached and waits until it greets. When several callers
// start one at once, one daemon wins the lock and all are greeted by it. One that cannot
// start is a *FailedError with its last words.
func (d *Daemon) Start(ctx context.Context, socket string) (*client.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	s, err := d.launch()
	if err != nil {
		return nil, err
	}
	var last time.Time // when the process was first seen to have ended
	died := 0
	for {
		cl := d.Client(socket)
		hello, err := cl.Hello(ctx)
		if err == nil {
			s.settle(hello.PID)
			return cl, nil
		}
		_ = cl.Close() // it never connected
		var version *client.VersionError
		var refused *rpc.Error
		if errors.As(err, &version) || errors.As(err, &refused) && !Ending(err) {
			return nil, err
		}
		select {
		case <-s.ended:
			if last.IsZero() {
				last = time.Now()
			}
			if s.killed == 0 && time.Since(last) < time.Second {
				break // another one may have the lock, and greet in a moment
			}
			if s.killed != 0 {
				died++
			}
			if died > MostStarts || !s.again(socket) {
				return nil, s.failure()
			}
			if s, err = d.launch(); err != nil {
				return nil, err
			}
			last = time.Time{}
		default:
		}
		if !pause(ctx) {
			return nil, fmt.Errorf("bothyd was started and does not answer at %s: see %s and %s; when the configuration sets listen.socket, set BOTHY_LISTEN_SOCKET to the same path", socket, s.log, d.Log())
		}
	}
}

// launch starts the process: a session of its own, nothing on its standard
// input, its output in a file.
func (d *Daemon) launch() (*starter, error) {
	path, err := d.Program()
	if err != nil {
		return nil, err
	}
	state, err := rpc.StateDir(d.env)
	if err != nil {
		return nil, &UsageError{err}
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return nil, fmt.Errorf("directory of the daemon's state: %w; set XDG_STATE_HOME to one that can be written", err)
	}
	s := &starter{log: filepath.Join(state, "bothyd.out"), ended: make(chan struct{})}
	out, err := openOutput(s.log)
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }() // the child has its own
	if s.begin, err = out.Seek(0, io.SeekEnd); err != nil {
		return nil, fmt.Errorf("output of bothyd: %w", err)
	}
	cmd := exec.Command(path)
	cmd.Dir, cmd.Env = state, d.AbsoluteEnviron()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", path, err)
	}
	s.pid = cmd.Process.Pid
	go func() {
		_ = cmd.Wait() // the exit code says it
		s.code = cmd.ProcessState.ExitCode()
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			s.killed = status.Signal()
		}
		close(s.ended)
	}()
	return s, nil
}

// openOutput opens the file for a daemon's own output, beginning it anew when
// it has grown.
func openOutput(path string) (*os.File, error) {
	flags := os.O_CREATE | os.O_APPEND | os.O_RDWR
	if fi, err := os.Stat(path); err == nil && fi.Size() > 1<<20 {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("output of bothyd: %w", err)
	}
	return f, nil
}

// AbsoluteEnviron is the environment for a process that works in another folder: relative
// paths that Bothy reads there name what they name here.
func (d *Daemon) AbsoluteEnviron() []string {
	environ := append([]string(nil), d.Environ...)
	for _, name := range []string{"BOTHY_PREFIX", "BOTHY_CONFIG", "BOTHY_LISTEN_SOCKET", "BOTHY_STORE_PATH"} {
		if value := d.env(name); value != "" {
			environ = append(environ, name+"="+d.path(value))
		}
	}
	return environ
}

// settle waits until a process that was not needed has ended: should the daemon
// that serves be stopped first, it would take its place.
func (s *starter) settle(serving int) {
	if serving == s.pid {
		return
	}
	select {
	case <-s.ended:
	case <-time.After(2 * time.Second): // it will find the lock taken all the same
	}
}

// again reports whether another start may help: a daemon was still ending at
// the socket, or somebody ended or killed the one that was started.
func (s *starter) again(socket string) bool {
	return s.code == sdk.ExitOK || s.killed != 0 || s.code == rpc.ExitRunning && strings.Contains(s.output(), filepath.Dir(socket)+string(filepath.Separator))
}

// failure tells why a daemon that ended did not start: its own last words.
func (s *starter) failure() error {
	words := strings.TrimSpace(s.output())
	if s.killed != 0 {
		return &FailedError{s.code, fmt.Errorf("bothyd was killed while it started (%v), %d times: `bothy doctor` looks at the machine, and the kernel's log (dmesg) tells when memory ran out; what it said, in %s:\n%s",
			s.killed, MostStarts+1, s.log, cmp.Or(words, "nothing"))}
	}
	if words == "" {
		words = "nothing; without room on the disk there is none for its words: `bothy doctor` looks at that and at the machine"
	}
	return &FailedError{s.code, fmt.Errorf("bothyd ended at once with exit code %d; what it said, in %s:\n%s", s.code, s.log, words)}
}

// output is the end of what the daemon printed since it was started.
func (s *starter) output() string {
	text, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	text = text[min(int(s.begin), len(text)):]
	return string(text[max(0, len(text)-8<<10):])
}
