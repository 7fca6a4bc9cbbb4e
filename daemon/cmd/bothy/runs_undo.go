package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

type runsUndoCmd struct {
	runArg
	Partial bool `help:"Take back what can be, though something else touched the rest."`
	DryRun  bool `short:"n" help:"Only say what would be taken back."`
	Yes     bool `short:"y" help:"Do not ask. Needed where there is no terminal."`
}

// Help adds to the verb's help.
func (runsUndoCmd) Help() string {
	return `The files of the project become as they were before the run first touched them, when nothing else touched them since: what an editor, a command or another run wrote is never lost. Unless --partial is given, all is taken back or nothing.

Only what tools tell of can be taken back: the files tools do, commands in the sandbox do not. What the run knows stays.

Examples:

    bothy runs undo -n
    bothy runs undo fix-42 --yes
`
}

// Run shows what is about to happen, asks, and does it.
func (cmd runsUndoCmd) Run(ctx context.Context, c *console) error {
	cl, ref, err := cmd.open(ctx, c)
	if err != nil {
		return err
	}
	defer c.close(cl)
	if cmd.DryRun {
		return cmd.preview(ctx, c, cl, ref)
	}
	if !cmd.Yes {
		if sure, err := cmd.sure(ctx, c, cl, ref); err != nil || !sure {
			return err
		}
	}
	return queryWith(c, cl, func(cl *client.Client) (rpc.Undone, error) {
		return cl.Undo(ctx, rpc.Undo{Run: ref.Run, Project: ref.Project, Partial: cmd.Partial})
	}, told(c, undoneText), func(u rpc.Undone) error {
		if len(u.Taken) == 0 && len(u.Left) > 0 {
			return fmt.Errorf("nothing of run %[1]s was taken back: `bothy runs diff %[1]s --stat` says why", u.Run)
		}
		return nil
	})
}

// preview says what would be taken back.
func (cmd runsUndoCmd) preview(ctx context.Context, c *console, cl *client.Client, ref rpc.RunRef) error {
	return queryWith(c, cl, func(cl *client.Client) (rpc.Changes, error) { return cl.Changes(ctx, ref) }, func(changes rpc.Changes) error {
		if err := c.text(differenceLines("", changes.Differences)); err != nil {
			return err
		}
		c.say("%s", escape(changesSummary(changes)))
		if stuck(changes) > 0 && !cmd.Partial {
			c.say("so nothing is taken back, unless you say --partial")
		}
		return nil
	})
}

// sure shows what is about to happen and wants a person's word. Where there is
// nothing to take back, or it cannot be, nobody is asked: the daemon says so.
func (cmd runsUndoCmd) sure(ctx context.Context, c *console, cl *client.Client, ref rpc.RunRef) (bool, error) {
	changes, err := cl.Changes(ctx, ref)
	if err != nil || len(changes.Differences) == 0 && !changes.Unfinished || !cmd.Partial && stuck(changes) > 0 {
		return true, err
	}
	if !c.inTTY {
		return false, usageError{fmt.Sprintf("%s of the project would be changed (`bothy runs undo -n` shows which), and nobody is here to ask: say --yes", plural(len(changes.Differences), "path"))}
	}
	fmt.Fprint(c.err, escape(differenceLines("", changes.Differences)))
	sure, err := c.confirm(fmt.Sprintf("Take this back in %s?", escapeLine(changes.Project)))
	if err == nil && !sure {
		err = exitError{exitAborted, errors.New("nothing was taken back")}
	}
	return sure, err
}

func differenceLines(before string, list []sdk.Difference) string {
	var b strings.Builder
	for _, d := range list {
		fmt.Fprintf(&b, "%s%s\n", before, differenceLine(d))
	}
	return b.String()
}

func undoneText(u rpc.Undone) string {
	if len(u.Taken)+len(u.Left) == 0 {
		return fmt.Sprintf("run %s changed nothing that is still so", u.Run)
	}
	text := ""
	if len(u.Taken) > 0 {
		text = fmt.Sprintf("took back %s of run %s\n", plural(len(u.Taken), "path"), u.Run) + differenceLines("  ", u.Taken)
	}
	if len(u.Left) > 0 {
		text += fmt.Sprintf("left as %s:\n", map[bool]string{true: "it is", false: "they are"}[len(u.Left) == 1]) + differenceLines("  ", u.Left)
	}
	for _, dir := range u.Kept {
		text += fmt.Sprintf("the folder %s stays: other things are in it by now\n", dir)
	}
	return text
}
