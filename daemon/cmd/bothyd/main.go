// Command bothyd is the daemon. Without a sub-command it serves in the
// foreground until it is told to stop; the sub-commands are those that need no
// daemon, and `bothy` passes them through.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/alecthomas/kong"

	"golang.org/x/term"

	"github.com/bothyd/bothy/daemon"
	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/daemon/internal/pidlock"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// The exit codes of bothyd, beside rpc.ExitRunning when another daemon runs.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitHurried = 3 // ended without waiting for what was at work
)

const exitCodes = `Exit codes:
  0  told to stop, and stopped in order
  1  failed, or the disk of the database did; the log tells why
  2  usage or configuration: nothing was begun
  3  told twice to stop, and ended without waiting for what was at work
  7  another bothyd is running

SIGINT and SIGTERM stop it in order, a second one at once; SIGHUP reads the configuration again.
`

type flags struct {
	Config   string `help:"Configuration to read instead of ~/.config/bothy/config.hcl." env:"BOTHY_CONFIG" placeholder:"FILE"`
	JSON     bool   `help:"Print what a sub-command finds as JSON."`
	LogLevel string `help:"How much to log, instead of what the configuration says: error, warn, info, debug or trace." placeholder:"LEVEL"`

	Serve     serveCmd   `cmd:"" default:"withargs" help:"Serve in the foreground (what happens without a sub-command)."`
	ConfigCmd configCmd  `cmd:"" name:"config" help:"Look at the configuration without a daemon."`
	Logs      logsCmd    `cmd:"" help:"Show the daemon's log."`
	Agents    agentsCmd  `cmd:"" help:"Check agents without a daemon."`
	Skills    skillsCmd  `cmd:"" help:"Check SKILL.md files without a daemon."`
	Plugins   pluginsCmd `cmd:"" help:"Try and begin plugins without a daemon."`
	MCP       mcpCmd     `cmd:"" name:"mcp" help:"Write the blocks of MCP servers without a daemon."`
	Policy    policyCmd  `cmd:"" help:"Say what policy would do, without a daemon."`
	Web       webCmd     `cmd:"" help:"Say what becomes of an address of the web, without a daemon."`
	Match     matchCmd   `cmd:"" help:"Say how a pattern is read and whether a text fits it."`
	Tags      tagsCmd    `cmd:"" help:"Read calls that a model wrote as tags, or make the edits in them, without a model."`
	Plan      planCmd    `cmd:"" help:"Check plans without a daemon."`
	Doctor    doctorCmd  `cmd:"" help:"Say what this machine lacks for Bothy, and how to mend it."`
	Restore   restoreCmd `cmd:"" help:"Put a backup in the place of the database, while no daemon runs."`
	Version   versionCmd `cmd:"" help:"Print the version."`
}

// Help is the text below the list of sub-commands.
func (flags) Help() string { return exitCodes }

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main without the exit, so that tests can call it.
func run(args []string, stdout, stderr io.Writer) int {
	var f flags
	c := &console{name: calledAs(os.Args[0]), in: bufio.NewReader(os.Stdin), out: stdout, err: stderr}
	parser, err := kong.New(&f, kong.Name(c.name),
		kong.Description("The daemon behind bothy. It starts by itself when bothy needs it."),
		verbs.Vars(), kong.Writers(stdout, stderr), kong.UsageOnError())
	if err != nil {
		c.say("%v", err)
		return exitFailed
	}
	help := slices.Contains(args, "--help") || slices.Contains(args, "-h")
	if help {
		parser.Exit = func(int) {}
	}
	k, err := parser.Parse(args)
	if err != nil {
		if help {
			return 0
		}
		c.say("%v", err)
		return exitUsage
	}
	c.json = f.JSON
	return c.exitCode(k.Run(&f, c))
}

// exitCode prints err, unless it was told already, and gives its exit code.
func (c *console) exitCode(err error) int {
	var told toldError
	var held *pidlock.HeldError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &told):
		return int(told)
	}
	c.say("%v", err)
	outcome := sdk.OutcomeOf(err)
	switch {
	case errors.Is(err, daemon.ErrHurried):
		return exitHurried
	case errors.As(err, &held):
		return rpc.ExitRunning
	case outcome == sdk.Validation, outcome == sdk.NotFound:
		return exitUsage
	default:
		return exitFailed
	}
}

// toldError is an exit code whose reason has been printed.
type toldError int

func (e toldError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// console is where a sub-command prints.
type console struct {
	name     string // that errors begin with
	in       *bufio.Reader
	out, err io.Writer
	json     bool
}

// say writes a line for people on standard error.
func (c *console) say(format string, args ...any) {
	fmt.Fprintf(c.err, c.name+": "+format+"\n", args...)
}

// calledAs is the name of the program that a person gave: bothy gives its own where it
// passes a verb through.
func calledAs(word string) string {
	if filepath.Base(word) == "bothy" {
		return "bothy"
	}
	return "bothyd"
}

type serveCmd struct{}

// Run serves until it is told to stop. What was acknowledged is in the store,
// however it ends.
func (serveCmd) Run(f *flags, c *console) error {
	told := takeSignals()
	opts := daemon.Options{Config: f.Config, LogLevel: f.LogLevel}
	if term.IsTerminal(int(os.Stderr.Fd())) {
		opts.Stderr = c.err // somebody looks; else the log file is enough
	}
	d, err := daemon.New(told.stop, opts)
	if errors.Is(err, daemon.ErrStopped) {
		return nil
	}
	if err != nil {
		return err
	}
	told.serve(told.stop, d)
	return d.Run(told.stop)
}

// ProvideFiles opens the files of plugins for the Run methods that take them.
func (f *flags) ProvideFiles() (*inspect.Files, error) { return daemon.OpenPluginFiles(f.Config) }

// report prints what a sub-command found: as JSON when that is asked for, else
// with show.
func report[A any](c *console, found A, err error, show func(*console, A) error) error {
	switch {
	case err != nil:
		return err
	case c.json:
		return printJSON(c, found)
	default:
		return show(c, found)
	}
}

type versionCmd struct{}

func (versionCmd) Run(c *console) error {
	if c.json {
		return printJSON(c, map[string]string{"version": sdk.Version, "protocol": rpc.Protocol})
	}
	_, err := fmt.Fprintln(c.out, "bothyd", sdk.Version)
	return err
}
