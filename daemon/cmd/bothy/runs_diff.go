package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

type runsDiffCmd struct {
	runArg
	Stat bool `help:"One line a file, without the lines that changed."`
}

// Help adds to the verb's help.
func (runsDiffCmd) Help() string {
	return `It compares the project's files as they are now with how they were before the run first touched them, as far as the run's tools tell what they change: the files tools do, commands in the sandbox do not. What stands behind a # is no part of the diff.

'bothy runs undo' takes it back.

Examples:

    bothy runs diff
    bothy runs diff fix-42 --stat
`
}

// Run prints the diff; how much of it there is goes to standard error.
func (cmd runsDiffCmd) Run(ctx context.Context, c *console) error {
	return queryRun(ctx, c, cmd, (*client.Client).Changes, func(changes rpc.Changes) error { return cmd.print(c, changes) })
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
	c.say("%s", escape(changesSummary(changes)))
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

// changesSummary counts.
func changesSummary(x rpc.Changes) string {
	added, removed := 0, 0
	for _, d := range x.Differences {
		added, removed = added+d.Added, removed+d.Removed
	}
	text := fmt.Sprintf("run %s changed %s, +%d -%d lines", x.Run, plural(len(x.Differences), "path"), added, removed)
	if len(x.Differences) == 0 {
		text = fmt.Sprintf("run %s changed nothing that is still so", x.Run)
	}
	if n := stuck(x); n > 0 {
		text += fmt.Sprintf("; %d cannot be taken back", n)
	}
	if x.Untold > 0 {
		text += fmt.Sprintf("; what %s changed is not known: commands, or calls that were cut short", plural(x.Untold, "call"))
	}
	if x.Unfinished {
		text += fmt.Sprintf("; taking it back was cut short: `bothy runs undo %s` goes on", x.Run)
	}
	return text
}
