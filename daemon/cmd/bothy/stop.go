package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// nowTime is how long a stop without patience may take before the process is killed.
const nowTime = 3 * time.Second

type stopCmd struct {
	Now bool `help:"Do not wait for what is at work, and kill a daemon that does not listen."`
}

// Help adds to the verb's help.
func (stopCmd) Help() string {
	return "Running tools get some seconds to end (the setting stop.grace). What is at work then goes on when the daemon starts again, and so do prompts that wait. It returns when the daemon has ended."
}

// Run asks the daemon to stop, whatever protocol it speaks, and waits for it.
func (cmd stopCmd) Run(ctx context.Context, c *console) error {
	socket, err := rpc.FindSocket(c.env)
	if err != nil {
		return usageError{err.Error()}
	}
	cl := c.daemon().Client(socket)
	cl.AnyProtocol = true
	defer c.close(cl)
	if cmd.Now {
		return c.stopNow(ctx, cl)
	}
	var hello rpc.Hello
	err = start.WhileEnding(ctx, start.StopTime, func() (err error) {
		hello, err = cl.Hello(ctx)
		return err
	})
	if start.IsDown(err) {
		return c.stopped(stopped{})
	}
	if err != nil {
		return err
	}
	s := stopped{Stopped: true, PID: hello.PID, Runs: openRuns(ctx, cl)}
	patience := start.StopTime + grace(ctx, cl)
	if err := cl.Stop(ctx); err != nil && !start.Ending(err) && !start.IsDown(err) {
		return err
	}
	if !gone(ctx, hello.PID, patience) {
		return fmt.Errorf("bothyd (pid %d) is still stopping after %s: see %s, or end it with `bothy stop --now`", hello.PID, patience, c.daemon().Log())
	}
	return c.stopped(s)
}

// stopNow ends the daemon at the socket within seconds, whether it listens or
// not: the kernel says which process it is.
func (c *console) stopNow(ctx context.Context, cl *client.Client) error {
	pid, err := listening(cl.Socket)
	if err != nil {
		return err
	}
	if pid == 0 {
		if pid = start.Holder(cl.Socket); pid == 0 {
			return c.stopped(stopped{})
		}
	}
	ctx, cancel := context.WithTimeout(ctx, nowTime)
	defer cancel()
	s := stopped{Stopped: true, PID: pid, Runs: openRuns(ctx, cl)}
	_ = cl.StopNow(ctx) // one that does not hear it is killed
	if !gone(ctx, pid, nowTime) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("bothyd (pid %d) does not end and cannot be killed: %w", pid, err)
		}
		s.Killed = true
	}
	return c.stopped(s)
}

// listening is the process of ours that listens at a socket, or 0.
func listening(socket string) (int, error) {
	conn, err := net.DialTimeout("unix", socket, nowTime)
	if err != nil {
		return 0, nil
	}
	defer func() { _ = conn.Close() }() // nothing was said
	peer, err := rpc.PeerOf(conn.(*net.UnixConn))
	if err != nil {
		return 0, fmt.Errorf("who listens at %s: %w", socket, err)
	}
	if peer.UID != os.Geteuid() {
		return 0, fmt.Errorf("what listens at %s belongs to uid %d, not to you", socket, peer.UID)
	}
	return peer.PID, nil
}

// gone waits for the end of a process.
func gone(ctx context.Context, pid int, most time.Duration) bool {
	for begin := time.Now(); start.Alive(pid); {
		if time.Since(begin) > most {
			return false
		}
		if !pause(ctx, 20*time.Millisecond) {
			return !start.Alive(pid)
		}
	}
	return true
}

// grace is how long the daemon lets tools end; 0 when it does not say.
func grace(ctx context.Context, cl *client.Client) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, nowTime)
	defer cancel()
	list, err := cl.Settings(ctx)
	if err != nil {
		return 0 // a daemon of another protocol may not be understood
	}
	return settingTime(list, "stop.grace", 0)
}

// openRuns are the runs that have something to do; none when the daemon does
// not say.
func openRuns(ctx context.Context, cl *client.Client) []openRun {
	ctx, cancel := context.WithTimeout(ctx, nowTime/2)
	defer cancel()
	list, err := cl.Runs(ctx, rpc.RunsParams{Limit: 1000})
	if err != nil {
		return nil // to stop is more important than to tell
	}
	var open []openRun
	for _, r := range list {
		if r.Status == sdk.StatusRunning || r.Status == sdk.StatusProposed || r.Status == sdk.StatusQueued && r.Summary != "" {
			open = append(open, openRun{Run: r.Alias, ID: r.ID, Project: r.ProjectRoot, Status: r.Status})
		}
	}
	return open
}

// openRun is a run that a stop leaves with something to do.
type openRun struct {
	Run     string `json:"run"`
	ID      int64  `json:"id"`
	Project string `json:"project"`
	Status  int    `json:"status"`
}

// stopped is what a stop came to; --json prints it.
type stopped struct {
	Stopped bool      `json:"stopped"`
	Killed  bool      `json:"killed"`
	PID     int       `json:"pid,omitempty"`
	Runs    []openRun `json:"runs"`
}

// stopped tells how it went, and which runs go on at the next start.
func (c *console) stopped(s stopped) error {
	if c.json {
		if s.Runs == nil {
			s.Runs = []openRun{}
		}
		return c.printJSON(s)
	}
	text := "bothyd is not running"
	switch {
	case s.Killed:
		text = fmt.Sprintf("bothyd (pid %d) was killed", s.PID)
	case s.Stopped:
		text = fmt.Sprintf("bothyd (pid %d) stopped", s.PID)
	}
	if err := c.lines(text); err != nil || len(s.Runs) == 0 {
		return err
	}
	c.say("These runs go on when bothyd runs again, which the next call starts; `bothy runs abort RUN` ends one:")
	for _, r := range s.Runs {
		c.say("  %s (%s) in %s", show.Line(r.Run), show.Status(r.Status), show.Line(r.Project))
	}
	return nil
}
