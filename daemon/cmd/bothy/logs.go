package main

import (
	"context"
	"strconv"
	"time"
)

type logsCmd struct {
	Follow bool          `short:"f" help:"Go on with what is logged from now on."`
	Lines  *int          `short:"n" help:"At most so many messages from before; 0 is all. 50, or all with --since, when absent."`
	Level  string        `help:"Only this level and worse: error, warn, info, debug or trace."`
	Since  time.Duration `placeholder:"10m" help:"Only what is not older."`
}

// Help adds to the verb's help.
func (logsCmd) Help() string {
	return `It reads the files bothyd.log, bothyd.log.1 and so on, and needs no daemon. With -f it goes on when the daemon starts a new file, and when another daemon starts.

Examples:

    bothy logs -f
    bothy logs --level warn --since 1h
    bothy logs -n 0 --json | jq -r .text
`
}

// Run needs no daemon: the log may be all that one has left.
func (cmd logsCmd) Run(ctx context.Context, c *console) error {
	args := []string{"logs"}
	if cmd.Follow {
		args = append(args, "--follow")
	}
	if cmd.Lines != nil {
		args = append(args, "--lines="+strconv.Itoa(*cmd.Lines))
	}
	if cmd.Level != "" {
		args = append(args, "--level="+cmd.Level)
	}
	if cmd.Since > 0 {
		args = append(args, "--since="+cmd.Since.String())
	}
	return c.passThrough(ctx, args...)
}
