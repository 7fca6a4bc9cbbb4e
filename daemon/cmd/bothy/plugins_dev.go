package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type pluginsDevCmd struct {
	As   string `placeholder:"NAME" help:"The label of the block that it stands for; the plugin's name when absent."`
	Path string `arg:"" name:"path" complete:"file" help:"The plugin's binary, bothy-plugin-NAME."`
}

// Help adds to the verb's help.
func (pluginsDevCmd) Help() string {
	return `Start the plugin yourself, with dev as its only argument, in a terminal or under a debugger. As long as this verb runs, the daemon uses that process in the place of its own: with the settings and grants of the block of its name, or as a plugin without either when there is no block. It is never pinned, but its code skills are executed, since you vouch for them; and the daemon never ends it, so that a breakpoint may last an hour. A process that was started anew is found again.

Examples:

    dlv exec ./bothy-plugin-hello -- dev
    bothy plugins dev ./bothy-plugin-hello
`
}

// looking is how often it is looked whether the plugin was started.
const looking = 200 * time.Millisecond

// Run lasts until Ctrl-C.
func (cmd pluginsDevCmd) Run(ctx context.Context, c *console) error {
	if err := c.noJSON("how it goes, for the plugin's author"); err != nil {
		return err
	}
	name, ok := strings.CutPrefix(filepath.Base(cmd.Path), "bothy-plugin-")
	if !ok || name == "" {
		return usageError{fmt.Sprintf("%s is not called bothy-plugin-NAME", cmd.Path)}
	}
	if cmd.As == "" {
		cmd.As = name
	}
	ctx, release := c.untilPressed(ctx)
	defer release()
	cl, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close(cl)
	for {
		p, err := c.await(ctx, name, cmd.Path)
		if err == nil {
			err = c.lend(ctx, cl, cmd.As, p)
		}
		switch {
		case ctx.Err() != nil:
			return nil // Ctrl-C is how it ends
		case err != nil:
			return err
		}
	}
}

// lend has the daemon use the process until that has gone.
func (c *console) lend(ctx context.Context, cl *client.Client, as string, p rpc.DevProcess) error {
	done, err := cl.DevPlugin(ctx, rpc.PluginDev{Instance: as, Path: p.Path, Address: p.Address, PID: p.PID}, func(a rpc.PluginAttached) {
		c.say("process %d is the plugin %s now (%s; tools: %s)", p.PID, show.Line(a.Instance), show.Line(strings.Join(a.Kinds, ", ")), show.Line(strings.Join(a.Tools, ", ")))
		if a.Added {
			c.say("no block is called %s: it runs without settings and without grants", show.Line(a.Instance))
		}
		for _, note := range a.Notes {
			c.say("%s", show.Text(note))
		}
	})
	if err != nil {
		return err
	}
	c.say("process %d is not in use any more: %s", p.PID, show.Text(done.Reason))
	return nil
}

// await finds the plugin that its author started, and waits for it.
func (c *console) await(ctx context.Context, name, path string) (rpc.DevProcess, error) {
	file, err := rpc.DevPath(c.env, name)
	if err != nil {
		return rpc.DevProcess{}, usageError{err.Error()}
	}
	for said := false; ; {
		p, err := readDev(file)
		switch {
		case err == nil && serves(p):
			return p, nil
		case err != nil && !errors.Is(err, os.ErrNotExist):
			return p, err
		case !said:
			c.say("waiting for the plugin: start it with  %s dev  or under a debugger with  dlv exec %s -- dev", path, path)
			said = true
		}
		if !pause(ctx, looking) {
			return p, ctx.Err()
		}
	}
}

// serves reports whether anybody listens: a process that was killed leaves its
// file behind.
func serves(p rpc.DevProcess) bool {
	n, err := net.Dial("unix", p.Address)
	if err == nil {
		err = n.Close()
	}
	return err == nil
}

func readDev(file string) (rpc.DevProcess, error) {
	var p rpc.DevProcess
	b, err := os.ReadFile(file)
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return p, sdk.Errorf(sdk.Validation, "%s is no file of a plugin: %w; remove it", file, err)
	}
	return p, nil
}
