package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// stopTime is how long a daemon may take to drain.
const stopTime = 60 * time.Second

type stopCmd struct{}

// Help adds to the verb's help.
func (stopCmd) Help() string {
	return "Loops at work are interrupted; prompts that wait are taken up when the daemon starts again. It returns when the daemon has ended."
}

// Run asks the daemon to stop, whatever protocol it speaks, and waits for it.
func (stopCmd) Run(ctx context.Context, c *console) error {
	socket, err := rpc.FindSocket(c.env)
	if err != nil {
		return usageError{err.Error()}
	}
	cl := &client.Client{Socket: socket, Name: "bothy", AnyProtocol: true}
	defer c.close(cl)
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	var hello rpc.Hello
	err = c.whileEnding(ctx, stopTime, func() (err error) {
		hello, err = cl.Hello(ctx)
		return err
	})
	if isDown(err) {
		return c.stopped(false, "bothyd is not running")
	}
	if err != nil {
		return err
	}
	if err := cl.Stop(ctx); err != nil && !ending(err) && !isDown(err) {
		return err
	}
	for alive(hello.PID) {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("bothyd (pid %d) is still stopping after %s: see %s", hello.PID, stopTime, c.logHint())
		}
	}
	return c.stopped(true, fmt.Sprintf("bothyd (pid %d) stopped", hello.PID))
}

func (c *console) stopped(was bool, text string) error {
	if c.json {
		return c.printJSON(map[string]bool{"stopped": was})
	}
	_, err := fmt.Fprintln(c.out, text)
	return err
}

// alive reports whether a process is there and has not ended. One that ended
// and was not reaped, as happens in containers, counts as ended.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !os.IsNotExist(err) || !hasProc()
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

func hasProc() bool {
	_, err := os.Stat("/proc/self")
	return err == nil
}
