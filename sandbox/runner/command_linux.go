package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sandbox/frame"
)

const (
	// killLimit bounds the wait for killed processes to be gone.
	killLimit = time.Second
	// drainLimit bounds the wait for the output of what could not be killed.
	drainLimit = time.Second
)

var (
	errTimeout = errors.New("timeout")
	// errUnusable is about the program, not about the rest of the command.
	errUnusable = errors.New("the program cannot be started")
)

// command is one Exec on its way to its Exit.
type command struct {
	frame.Exec
	processes *processes
	oom       *oomCounter
	mounts    []string
	// send writes a whole frame to the link.
	send func([]byte) error
	// held keeps the output for who asks later.
	held *heldCommand
}

// run executes the command and returns its Exit, with everything it made dead.
// A cancelled ctx ends it early.
func (c *command) run(ctx context.Context) frame.Exit {
	out := frame.Exit{ID: c.ID}
	if out.Missing = c.missing(); len(out.Missing) > 0 {
		return out
	}
	if out.NoView = c.View && !viewMounted(); out.NoView {
		return out
	}
	c.oom.begin()
	stdout, stderr, exited, began, err := c.start()
	if err != nil {
		out.Error, out.Unusable = err.Error(), errors.Is(err, errUnusable)
		return out
	}
	out.Started = true
	defer stdout.pipe.Close()
	defer stderr.pipe.Close()
	var drains sync.WaitGroup
	drains.Go(func() { stdout.drain(c.ID, frame.Stdout, c.StdoutCap, c.send, &c.held.stdout) })
	drains.Go(func() { stderr.drain(c.ID, frame.Stderr, c.StderrCap, c.send, &c.held.stderr) })

	end := c.wait(ctx, exited, &out)
	before := c.processes.orphansNow()
	out.Survivors = !c.processes.killAll(killLimit)
	if end == nil {
		end = lastExit(exited)
	}
	out.Leftovers = c.processes.orphansNow() - before
	if out.Survivors {
		abandon(drainLimit, stdout, stderr)
	}
	drains.Wait()
	out.StdoutDropped, out.StderrDropped = stdout.dropped, stderr.dropped
	c.describe(&out, end, began)
	out.Missing = c.missing()
	return out
}

// start makes the pipes and the process.
func (c *command) start() (stdout, stderr *output, exited <-chan exit, began time.Time, err error) {
	argv0, err := c.lookUp()
	if err != nil {
		return nil, nil, nil, began, err
	}
	null, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, nil, began, fmt.Errorf("open /dev/null: %w", err)
	}
	defer func() { _ = unix.Close(null) }()
	stdout, w1, err := newOutput()
	if err != nil {
		return nil, nil, nil, began, err
	}
	defer func() { _ = unix.Close(w1) }()
	stderr, w2, err := newOutput()
	if err != nil {
		_ = stdout.pipe.Close()
		return nil, nil, nil, began, err
	}
	defer func() { _ = unix.Close(w2) }()
	began = time.Now()
	exited, err = c.processes.start(argv0, c.Argv, &syscall.ProcAttr{
		Dir:   c.Dir,
		Env:   c.Env,
		Files: []uintptr{uintptr(null), uintptr(w1), uintptr(w2)},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		_ = stdout.pipe.Close()
		_ = stderr.pipe.Close()
		return nil, nil, nil, began, c.explain(argv0, err)
	}
	return stdout, stderr, exited, began, nil
}

// wait returns the main process's end, or nil when the time is up or the
// command was cancelled first.
func (c *command) wait(ctx context.Context, exited <-chan exit, out *frame.Exit) *exit {
	ctx, stop := context.WithTimeoutCause(ctx, time.Duration(c.TimeoutMS)*time.Millisecond, errTimeout)
	defer stop()
	select {
	case e := <-exited:
		return &e
	case <-ctx.Done():
		if end := lastExit(exited); end != nil {
			return end
		}
		out.TimedOut = errors.Is(context.Cause(ctx), errTimeout)
		out.Cancelled = !out.TimedOut
		return nil
	}
}

// lastExit is the main process's end after the kill; nil when it would not die.
func lastExit(exited <-chan exit) *exit {
	select {
	case e := <-exited:
		return &e
	default:
		return nil
	}
}

func (c *command) describe(out *frame.Exit, end *exit, began time.Time) {
	if end == nil {
		out.Code, out.Signal = 128+int(unix.SIGKILL), int(unix.SIGKILL)
		out.DurationUS = time.Since(began).Microseconds()
		return
	}
	out.DurationUS = end.at.Sub(began).Microseconds()
	out.Code = end.status.ExitStatus()
	if end.status.Signaled() {
		out.Signal = int(end.status.Signal())
		out.Code = 128 + out.Signal
	}
	out.OOM = c.oom.killed(out.Signal == int(unix.SIGKILL) || out.Code == 128+int(unix.SIGKILL))
}

func (c *command) missing() []string {
	if len(c.mounts) == 0 {
		return nil
	}
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return c.mounts
	}
	return missingMounts(table, c.mounts)
}

// lookUp finds argv[0] along the PATH of the command's own environment.
func (c *command) lookUp() (string, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return "", errors.New("empty command")
	}
	name := c.Argv[0]
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, entry := range c.Env {
		dirs, ok := strings.CutPrefix(entry, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(dirs) {
			path := filepath.Join(dir, name)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				return path, nil
			}
		}
	}
	return "", unusable{fmt.Errorf("%s: not found in the sandbox", name)}
}

// explain tells a missing directory from a missing program: the kernel answers
// both with the same error.
func (c *command) explain(argv0 string, err error) error {
	if info, statErr := os.Stat(c.Dir); statErr != nil || !info.IsDir() {
		return fmt.Errorf("directory %s does not exist in the sandbox: %w", c.Dir, err)
	}
	if errors.Is(err, syscall.E2BIG) {
		return fmt.Errorf("the command is too long to start: %w", err)
	}
	err = fmt.Errorf("start %s: %w", argv0, err)
	for _, reason := range []error{syscall.ENOENT, syscall.ENOTDIR, syscall.EACCES, syscall.EISDIR, syscall.ENOEXEC, syscall.ELOOP, syscall.ENAMETOOLONG} {
		if errors.Is(err, reason) {
			return unusable{err}
		}
	}
	return err
}

// unusable marks an error as [errUnusable] and keeps its text.
type unusable struct{ error }

func (u unusable) Is(target error) bool { return target == errUnusable }
func (u unusable) Unwrap() error        { return u.error }
