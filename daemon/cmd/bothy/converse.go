package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/bothyd/bothy/sdk/rpc"
)

// converse opens a conversation in the project: the terminal front end, a program of its
// own, takes the place of this one. Its libraries would cost every verb their start.
func (c *console) converse(ctx context.Context, cmd chatCmd, project string) error {
	program, err := c.besideDaemon("bothy-terminal", "the terminal front end is not installed: `bothy chat --plain` talks line by line")
	if err != nil {
		return err
	}
	c.role = rpc.RoleApprove
	cl, err := c.connect(ctx)
	if err != nil {
		return err
	}
	c.tellUntrusted(ctx, cl, project)
	err = c.openInstructions(ctx, cl, project, true, true)
	run := ""
	if err == nil {
		run, err = cmd.name(ctx, cl, project)
	}
	if err == nil && cmd.Yolo {
		cmd.widen(c, &rpc.Prompt{}) // it is said before the screen is another's
	}
	args := []string{program, "--socket", cl.Socket, "--project", project, "--bothy", c.exe, "--agent", cmd.Agent}
	c.close(cl)
	if err != nil {
		return err
	}
	for _, flag := range [][2]string{{"--run", run}, {"--model", cmd.Model}, {"--mode", cmd.Mode}, {"--state", c.terminalState()}} {
		if flag[1] != "" {
			args = append(args, flag[0], flag[1])
		}
	}
	if cmd.Yolo {
		args = append(args, "--yolo")
	}
	if cmd.NoMemory {
		args = append(args, "--no-memory")
	}
	if cmd.Pick {
		args = append(args, "--pick")
	}
	environ := c.daemon().AbsoluteEnviron()
	if !c.color {
		environ = append(environ, "NO_COLOR=1")
	}
	if err := syscall.Exec(program, args, environ); err != nil {
		return fmt.Errorf("start the terminal front end: %w", err)
	}
	return nil
}

// terminalState is the folder of the terminal's own files; empty where nobody says where
// state belongs.
func (c *console) terminalState() string {
	dir, err := rpc.StateDir(c.env)
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "terminal")
}

// drawn reports whether a conversation can be drawn on the terminal. Where it cannot, it
// is held line by line, which screen readers and terminals without control sequences can
// follow.
func (c *console) drawn() bool {
	return c.inTTY && c.outTTY && !c.json && c.redraws()
}

// redraws reports whether lines of the terminal may be drawn again.
func (c *console) redraws() bool {
	return !c.plain && c.env("BOTHY_PLAIN") == "" && c.env("TERM") != "dumb"
}

// chatFlags are the flags of a command line without a verb that begin a conversation, and
// whether a value follows.
var chatFlags = map[string]bool{
	"-c": false, "--continue": false, "--last": false, "-r": true, "--run": true, "-m": true, "--model": true,
	"-a": true, "--agent": true, "--project": true, "--mode": true, "--yolo": false, "--allow-dangerous": false, "--no-memory": false,
	"--plain": false, "--pick": false, "--answer-within": true, "-C": true, "--dir": true, "--no-color": false, "--json": false,
}

// conversation puts the verb before flags that are chat's alone: bothy -c is bothy chat -c.
// It is so at a terminal only: a script says what it wants.
func (c *console) conversation(args []string) []string {
	if !c.inTTY || !c.outTTY {
		return args
	}
	for i := 0; i < len(args); i++ {
		name, _, attached := strings.Cut(args[i], "=")
		value, known := chatFlags[name]
		if !known {
			return args
		}
		if value && !attached {
			i++
		}
	}
	return append([]string{"chat"}, args...)
}
