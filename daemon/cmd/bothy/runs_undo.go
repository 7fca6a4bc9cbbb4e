package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type runsUndoCmd struct {
	runArg
	partArg
	Partial bool `help:"Take back what can be, though something else touched the rest."`
	DryRun  bool `short:"n" help:"Only say what would be taken back."`
	Yes     bool `short:"y" help:"Do not ask. Needed where there is no terminal."`
}

// Help adds to the verb's help.
func (runsUndoCmd) Help() string {
	return `The files of the project become as they were before the run first touched them, when nothing else touched them since: what an editor, another run or you wrote is never lost. Unless --partial is given, all is taken back or nothing.

With --prompt, --turn, --action or --path only that part of the run is taken back. Where the run built on it later, that is named and nothing is taken back.

What the tools of the run told of can be taken back: files tools, and commands that worked on a copy of the project. What the run knows stays. 'bothy runs redo' makes it again.

Examples:

    bothy runs undo -n
    bothy runs undo fix-42 --yes
    bothy runs undo fix-42 --turn 3
    bothy runs undo --path 'docs/**' --partial
`
}

// Run shows what is about to happen, asks, and does it.
func (cmd runsUndoCmd) Run(ctx context.Context, c *console) error {
	if err := cmd.check(); err != nil {
		return err
	}
	return takingBack{
		runArg: cmd.runArg, part: cmd.partArg, partial: cmd.Partial, dryRun: cmd.DryRun, yes: cmd.Yes,
		verb: "undo", question: "Take this back", done: "taken back", did: "took back %s of %s\n", nothing: "changed nothing that is still so",
		look: cmd.of,
		do: func(cl *client.Client, ref rpc.RunRef) (rpc.Undone, error) {
			return cl.Undo(ctx, rpc.Undo{
				Run: ref.Run, Project: ref.Project, Partial: cmd.Partial, Prompt: cmd.Prompt, Turn: cmd.Turn, Action: cmd.Action, Paths: cmd.Path,
			})
		},
	}.run(ctx, c)
}

type runsRedoCmd struct {
	runArg
	Partial bool `help:"Make again what can be, though something else touched the rest."`
	DryRun  bool `short:"n" help:"Only say what would be made again."`
	Yes     bool `short:"y" help:"Do not ask. Needed where there is no terminal."`
}

// Help adds to the verb's help.
func (runsRedoCmd) Help() string {
	return `The last 'bothy runs undo' of the run is taken back itself: the files become what they were before it. Called again, it goes on with the undo before that one. What was touched since stays as it is; unless --partial is given, all is made again or nothing.

Examples:

    bothy runs redo -n
    bothy runs redo fix-42 --yes
`
}

// Run shows what is about to happen, asks, and does it.
func (cmd runsRedoCmd) Run(ctx context.Context, c *console) error {
	return takingBack{
		runArg: cmd.runArg, partial: cmd.Partial, dryRun: cmd.DryRun, yes: cmd.Yes,
		verb: "redo", question: "Make this again", done: "made again", did: "made %s of %s again\n", nothing: "has nothing that was taken back",
		look: func(ref rpc.RunRef) rpc.ChangesOf {
			return rpc.ChangesOf{Run: ref.Run, Project: ref.Project, Redo: true}
		},
		do: func(cl *client.Client, ref rpc.RunRef) (rpc.Undone, error) {
			return cl.Redo(ctx, rpc.Redo{Run: ref.Run, Project: ref.Project, Partial: cmd.Partial})
		},
	}.run(ctx, c)
}

// takingBack is what undo and redo share.
type takingBack struct {
	runArg
	part                 partArg
	partial, dryRun, yes bool

	verb     string // of bothy runs
	question string
	done     string // of what it did to something
	did      string // with how many paths, and of what
	nothing  string // what a run is said to be when there is nothing to do
	look     func(rpc.RunRef) rpc.ChangesOf
	do       func(*client.Client, rpc.RunRef) (rpc.Undone, error)
}

func (b takingBack) run(ctx context.Context, c *console) error {
	cl, ref, err := b.open(ctx, c)
	if err != nil {
		return err
	}
	defer c.close(cl)
	if b.dryRun {
		return b.preview(ctx, c, cl, ref)
	}
	if !b.yes {
		if sure, err := b.sure(ctx, c, cl, ref); err != nil || !sure {
			return err
		}
	}
	return queryWith(c, cl, func(cl *client.Client) (rpc.Undone, error) { return b.do(cl, ref) }, told(c, b.text), func(u rpc.Undone) error {
		if len(u.Taken) == 0 && len(u.Left) > 0 {
			return fmt.Errorf("nothing of %s was %s: `bothy runs %s %s%s -n` says why", b.part.words(u.Run), b.done, b.verb, u.Run, b.part.flags())
		}
		return nil
	})
}

// preview says what would happen.
func (b takingBack) preview(ctx context.Context, c *console, cl *client.Client, ref rpc.RunRef) error {
	return queryWith(c, cl, func(cl *client.Client) (rpc.Changes, error) { return cl.Changes(ctx, b.look(ref)) }, func(changes rpc.Changes) error {
		if err := c.text(differenceLines("", changes.Differences)); err != nil {
			return err
		}
		c.say("%s", show.Text(b.summary(changes)))
		if stuck(changes) > 0 && !b.partial {
			c.say("so nothing is %s, unless you say --partial", b.done)
		}
		return nil
	})
}

// summary counts what would happen.
func (b takingBack) summary(x rpc.Changes) string {
	switch {
	case b.verb == "undo":
		return changesSummary(x, b.part)
	case len(x.Differences) == 0:
		return fmt.Sprintf("run %s %s", x.Run, b.nothing)
	}
	text := fmt.Sprintf("%s of run %s would be %s", show.Plural(len(x.Differences), "path"), x.Run, b.done)
	if n := stuck(x); n > 0 {
		text += fmt.Sprintf("; %d cannot be", n)
	}
	return text
}

// sure shows what is about to happen and wants a person's word. Where there is
// nothing to do, or it cannot be done, nobody is asked: the daemon says so.
func (b takingBack) sure(ctx context.Context, c *console, cl *client.Client, ref rpc.RunRef) (bool, error) {
	changes, err := cl.Changes(ctx, b.look(ref))
	if err != nil || len(changes.Differences) == 0 && !changes.Unfinished || !b.partial && stuck(changes) > 0 {
		return true, err
	}
	if !c.inTTY {
		return false, usageError{fmt.Sprintf("%s of the project would be changed (`bothy runs %s%s -n` shows which), and nobody is here to ask: say --yes", show.Plural(len(changes.Differences), "path"), b.verb, b.part.flags())}
	}
	fmt.Fprint(c.err, show.Text(differenceLines("", changes.Differences)))
	sure, err := c.confirm(fmt.Sprintf("%s in %s?", b.question, show.Line(changes.Project)))
	if err == nil && !sure {
		err = exitError{exitAborted, errors.New("nothing was " + b.done)}
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

func (b takingBack) text(u rpc.Undone) string {
	if len(u.Taken)+len(u.Left) == 0 {
		return fmt.Sprintf("%s %s", b.part.words(u.Run), b.nothing)
	}
	text := ""
	if len(u.Taken) > 0 {
		text = fmt.Sprintf(b.did, show.Plural(len(u.Taken), "path"), b.part.words(u.Run)) + differenceLines("  ", u.Taken)
	}
	if len(u.Left) > 0 {
		text += fmt.Sprintf("left as %s:\n", map[bool]string{true: "it is", false: "they are"}[len(u.Left) == 1]) + differenceLines("  ", u.Left)
	}
	for _, dir := range u.Kept {
		text += fmt.Sprintf("the folder %s stays: other things are in it by now\n", dir)
	}
	return text
}
