package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

type runsRmCmd struct {
	Names   []string `arg:"" name:"run" complete:"run" help:"The runs' aliases or ids."`
	Project string   `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
	Yes     bool     `short:"y" help:"Do not ask. Needed where there is no terminal."`
}

// Help adds to the verb's help.
func (runsRmCmd) Help() string {
	return `A run goes with all it knows, its container and its home. What its forks see, they keep; the project's files stay. The journal keeps telling that there was such a run, and not what was said in it.

A run at work cannot be deleted: end it first with 'bothy runs abort'. Runs that nobody touches go by themselves after store.retention_days.

Examples:

    bothy runs rm fix-42
    bothy runs rm --yes default-1 default-2
`
}

// Run asks once for all, and deletes one after the other.
func (cmd runsRmCmd) Run(ctx context.Context, c *console) error {
	cl, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close(cl)
	var refs []rpc.RunRef
	for _, name := range cmd.Names {
		ref, err := namedRun{Alias: name, Project: cmd.Project}.ref(c)
		if err != nil {
			return err
		}
		refs = append(refs, ref)
	}
	if !cmd.Yes {
		if err := cmd.ask(ctx, c, cl, refs); err != nil {
			return err
		}
	}
	deleted := []rpc.Changed{}
	for _, ref := range refs {
		gone, err := cl.Delete(ctx, ref)
		if err != nil {
			return err
		}
		deleted = append(deleted, gone)
		if !c.json {
			if err := c.text("deleted run " + gone.Run); err != nil {
				return err
			}
		}
	}
	if c.json {
		return c.printJSON(deleted)
	}
	return nil
}

// ask wants a person's word. A run that is not there is told before that.
func (cmd runsRmCmd) ask(ctx context.Context, c *console, cl *client.Client, refs []rpc.RunRef) error {
	if !c.inTTY {
		return usageError{"a run is deleted for good, and nobody is here to ask: say --yes"}
	}
	var names []string
	for _, ref := range refs {
		d, err := cl.Run(ctx, ref)
		if err != nil {
			return err
		}
		names = append(names, fmt.Sprintf("%s (%s)", escapeLine(d.Run), plural(d.Turn, "turn")))
	}
	fmt.Fprintf(c.err, "Delete %s for good? [y/N] ", strings.Join(names, ", "))
	line, err := bufio.NewReader(c.in).ReadString('\n')
	if err != nil && err != io.EOF {
		return fmt.Errorf("standard input: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return exitError{exitAborted, fmt.Errorf("nothing was deleted")}
}
