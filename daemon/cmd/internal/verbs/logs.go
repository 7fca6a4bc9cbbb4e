package verbs

import "time"

// Logs shows the daemon's log.
type Logs struct {
	Follow bool          `short:"f" help:"Go on with what is logged from now on."`
	Lines  *int          `short:"n" help:"At most so many messages from before; 0 is all. 50, or all with --since, when absent."`
	Level  string        `help:"Only this level and worse: error, warn, info, debug or trace."`
	Since  time.Duration `placeholder:"10m" help:"Only what is not older."`
}

// Help adds to the help of the verb.
func (Logs) Help() string {
	return `It reads the files bothyd.log, bothyd.log.1 and so on, and needs no daemon. With -f it goes on when the daemon starts a new file, and when another daemon starts.

Examples:

    bothy logs -f
    bothy logs --level warn --since 1h
    bothy logs -n 0 --json | jq -r .text
`
}
