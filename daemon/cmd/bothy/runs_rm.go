package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type runsRmCmd struct {
	Names   []string `arg:"" optional:"" name:"run" complete:"run" help:"The runs' aliases or ids."`
	Project string   `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
	lastFlag
	Yes bool `short:"y" help:"Do not ask. Needed where there is no terminal."`
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

// Run looks all of them up, asks once, and deletes one after the other: a name
// that is wrong deletes nothing.
func (cmd runsRmCmd) Run(ctx context.Context, c *console) error {
	if len(cmd.Names) == 0 && !cmd.Last {
		return usageError{"name the runs to delete, or say --last: `bothy runs list` shows what there is"}
	}
	if !cmd.Yes && !c.inTTY {
		return usageError{"a run is deleted for good, and nobody is here to ask: say --yes"}
	}
	if cmd.Last {
		last, err := cmd.name(ctx, c, strings.Join(cmd.Names, ", "), cmd.Project)
		if err != nil {
			return err
		}
		cmd.Names = []string{last}
	}
	cl, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close(cl)
	doomed, err := cmd.find(ctx, c, cl)
	if err != nil {
		return err
	}
	if !cmd.Yes {
		names := each(doomed, func(d rpc.RunDetail) string {
			return fmt.Sprintf("%s (%s)", show.Line(d.Run), show.Plural(d.Turn, "turn"))
		})
		if sure, err := c.confirm(fmt.Sprintf("Delete %s for good?", strings.Join(names, ", "))); err != nil {
			return err
		} else if !sure {
			return exitError{exitAborted, errors.New("nothing was deleted")}
		}
	}
	deleted := []rpc.Changed{}
	for _, d := range doomed {
		var gone rpc.Changed
		if gone, err = cl.Delete(ctx, rpc.RunRef{Run: strconv.FormatInt(d.ID, 10)}); err != nil {
			break
		}
		deleted = append(deleted, gone)
		if !c.json {
			if err := c.text("deleted run " + gone.Run); err != nil {
				return err
			}
		}
	}
	if c.json && (err == nil || len(deleted) > 0) {
		return errors.Join(err, c.printJSON(deleted))
	}
	return err
}

// find looks the runs up, each once however often it was named.
func (cmd runsRmCmd) find(ctx context.Context, c *console, cl *client.Client) ([]rpc.RunDetail, error) {
	var found []rpc.RunDetail
	for _, name := range cmd.Names {
		ref, err := namedRun{name, cmd.Project}.ref(c)
		if err != nil {
			return nil, err
		}
		d, err := cl.Run(ctx, ref)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(found, func(other rpc.RunDetail) bool { return other.ID == d.ID }) {
			found = append(found, d)
		}
	}
	return found, nil
}
