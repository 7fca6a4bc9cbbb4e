package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type runsDiffCmd struct {
	runArg
	partArg
	Stat bool `help:"One line a file, without the lines that changed."`
}

// Help adds to the verb's help.
func (runsDiffCmd) Help() string {
	return `It compares the project's files as they are now with how they were before the run first touched them. The files tools tell what they change, and so do commands that worked on a copy of the project. What stands behind a # is no part of the diff.

With --prompt, --turn, --action or --path it is what that part of the run did, also when the run changed the same files again later.

'bothy runs undo' takes it back, with the same flags.

Examples:

    bothy runs diff
    bothy runs diff fix-42 --stat
    bothy runs diff fix-42 --turn 3
    bothy runs diff --action turn_3/bash/call --path 'src/**'
`
}

// Run prints the diff; how much of it there is goes to standard error.
func (cmd runsDiffCmd) Run(ctx context.Context, c *console) error {
	if err := cmd.check(); err != nil {
		return err
	}
	return queryRun(ctx, c, cmd, func(cl *client.Client, ctx context.Context, ref rpc.RunRef) (rpc.Changes, error) {
		return cl.Changes(ctx, cmd.of(ref))
	}, func(changes rpc.Changes) error { return cmd.print(c, changes) })
}

func (cmd runsDiffCmd) print(c *console, changes rpc.Changes) error {
	var b strings.Builder
	for _, d := range changes.Differences {
		if !cmd.Stat && d.Diff != "" {
			b.WriteString(strings.TrimRight(d.Diff, "\n") + "\n")
		} else {
			fmt.Fprintf(&b, "# %s\n", differenceLine(d))
		}
	}
	if err := c.text(b.String()); err != nil {
		return err
	}
	c.say("%s", show.Text(changesSummary(changes, cmd.partArg)))
	return nil
}

// differenceLine is what became of a file, in one line.
func differenceLine(d sdk.Difference) string {
	kind := ""
	if d.Kind != "file" && d.Kind != "" {
		kind = " (" + d.Kind + ")"
	}
	line := fmt.Sprintf("%-7s %s%s", d.Status, d.Path, kind)
	if d.From != "" {
		line += ", from " + d.From
	}
	switch {
	case d.Conflict != "":
		line += ": cannot be taken back, " + d.Conflict
	case d.Binary:
		line += ", binary"
	case d.Added+d.Removed > 0:
		line += fmt.Sprintf(", +%d -%d", d.Added, d.Removed)
	}
	if d.Mode != "" && d.Conflict == "" {
		line += ", mode " + d.Mode
	}
	return line
}

// stuck counts what cannot be taken back.
func stuck(x rpc.Changes) int {
	n := 0
	for _, d := range x.Differences {
		if d.Conflict != "" {
			n++
		}
	}
	return n
}

// changesSummary counts what a part of a run changed.
func changesSummary(x rpc.Changes, part partArg) string {
	added, removed := 0, 0
	for _, d := range x.Differences {
		added, removed = added+d.Added, removed+d.Removed
	}
	what := part.words(x.Run)
	text := fmt.Sprintf("%s changed %s, +%d -%d lines", what, show.Plural(len(x.Differences), "path"), added, removed)
	if len(x.Differences) == 0 {
		text = what + " changed nothing that is still so"
	}
	if n := stuck(x); n > 0 {
		text += fmt.Sprintf("; %d cannot be taken back", n)
	}
	if x.Untold > 0 {
		text += fmt.Sprintf("; what %s changed is not known: commands that worked on the project itself, or calls that were cut short", show.Plural(x.Untold, "call"))
	}
	if x.Unfinished {
		text += fmt.Sprintf("; taking it back was cut short: `bothy runs undo %s` goes on", x.Run)
	}
	return text
}
