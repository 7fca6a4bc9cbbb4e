// Command bothy is the command line of Bothy. It speaks to the daemon through
// its socket and starts it when it is not running; each verb is one file. What
// needs no daemon (config, doctor) is done by bothyd itself.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/sdk/client/show"
)

// cli is the command line: global flags and verbs.
type cli struct {
	Dir     string `short:"C" placeholder:"DIR" complete:"dir" help:"Work as if called in DIR."`
	JSON    bool   `name:"json" help:"Print JSON."`
	NoColor bool   `help:"Print without colours; NO_COLOR does the same."`

	VersionFlag versionFlag `name:"version" help:"Print the version, as 'bothy version' does."`

	Run       runCmd                 `cmd:"" help:"Give an agent a prompt and watch it work."`
	Chat      chatCmd                `cmd:"" help:"Talk with an agent."`
	Plan      planCmd                `cmd:"" help:"Write a plan for an agent, and check one."`
	ACP       acpCmd                 `cmd:"" name:"acp" help:"Serve an editor that speaks the Agent Client Protocol."`
	Runs      runsCmd                `cmd:"" help:"List and show runs; abort, resume, compact, fork, diff, undo, reset, rename or delete one."`
	Entries   entriesCmd             `cmd:"" help:"List what a run knows; read, change, copy, move or remove entries."`
	Memory    memoryCmd              `cmd:"" help:"List, find, add, change and forget what is remembered of you, or of somebody else."`
	Project   projectCmd             `cmd:"" help:"Make a project's files entries, list them, and say which no run may write."`
	Journal   journalCmd             `cmd:"" help:"Print what was committed, row by row, and follow what comes."`
	Proposals proposalsCmd           `cmd:"" help:"List what waits for your answer; show, accept, reject or edit one."`
	Notify    notifyCmd              `cmd:"" help:"Print what waits for an answer anywhere, for a shell's prompt or a bar."`
	Policy    policyCmd              `cmd:"" help:"List the rules about what may run, and forget those that answers left."`
	Explain   explainCmd             `cmd:"" help:"Say why an action ran, waited or was refused."`
	Audit     auditCmd               `cmd:"" help:"List, check and export who did what, and what was refused."`
	Tools     toolsCmd               `cmd:"" help:"List tools, show one, or call it."`
	Web       webCmd                 `cmd:"" help:"Fetch a page without a model, or say whether an address may be asked for."`
	Agents    agentsCmd              `cmd:"" help:"List and show agents, and check them."`
	Skills    skillsCmd              `cmd:"" help:"List and show skills, and turn them on and off."`
	Match     offline[verbs.Match]   `cmd:"" help:"Say how a pattern is read and whether a text fits it."`
	Tags      tagsCmd                `cmd:"" help:"Read calls that a model wrote as tags, or make the edits in them, without a model."`
	Trust     trustCmd               `cmd:"" help:"Show the skills that came with a project, and trust those that you want."`
	MCP       mcpCmd                 `cmd:"" name:"mcp" help:"List MCP servers, add and import them."`
	Plugins   pluginsCmd             `cmd:"" help:"List plugins and their state."`
	Channels  channelsCmd            `cmd:"" help:"List channels and whose prompts they bring; add or remove somebody."`
	Hooks     hooksCmd               `cmd:"" help:"Print the catalogue of hooks: what each carries and what a failure means."`
	Models    modelsCmd              `cmd:"" help:"List models and the one that is taken when none is named, or get one."`
	Auth      authCmd                `cmd:"" help:"Give the key of a provider, take it away, or list where keys are."`
	Usage     usageCmd               `cmd:"" help:"Say what models answered and what that cost, by day, project, run or model."`
	Status    statusCmd              `cmd:"" help:"Say how the daemon is."`
	Stop      stopCmd                `cmd:"" help:"Stop the daemon and all it started."`
	Logs      offline[verbs.Logs]    `cmd:"" help:"Show the daemon's log."`
	Config    configCmd              `cmd:"" help:"Write, check, show or reload the configuration."`
	Backup    backupCmd              `cmd:"" help:"Write a verified copy of the database while the daemon runs."`
	Restore   offline[verbs.Restore] `cmd:"" help:"Put a backup in the place of the database; the daemon must be stopped."`
	Doctor    offline[struct{}]      `cmd:"" help:"Say what this machine lacks for Bothy, and how to mend it."`
	Version   versionCmd             `cmd:"" help:"Print the version."`

	Completion completionCmd `cmd:"" help:"Print the completion script for a shell."`
	Man        manCmd        `cmd:"" help:"Show the manual page of bothy, or of a verb."`
}

// Help is the text below the list of verbs.
func (cli) Help() string {
	return `Without a verb, in a terminal, it opens a conversation: ` + "`bothy -c`" + ` goes on with the project's last run, ` + "`bothy -r NAME`" + ` with another, ` + "`bothy resume`" + ` lets you choose.

The project of a call is the nearest folder upwards with .bothy or .git, else the working directory.

Examples:

    bothy run "why does the test in pkg/store fail?"
    git diff | bothy run "review this change"
    bothy run -m ollama/qwen3 --format json "count the TODOs" | jq .answer
    bothy tools call bash '{"command":"id -u"}'
    bothy runs show

` + exitCodes
}

func main() {
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bothy: the working directory:", err)
		os.Exit(exitFailed)
	}
	exe, err := os.Executable()
	if err == nil {
		exe, err = filepath.EvalSymlinks(exe)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bothy: cannot find its own path:", err)
		os.Exit(exitFailed)
	}
	c := &console{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, environ: os.Environ(), dir: dir, exe: exe,
		keys: keyboardOf(os.Stdin), silence: silence,
		inTTY: isTerminal(os.Stdin), outTTY: isTerminal(os.Stdout), errTTY: isTerminal(os.Stderr),
		interrupts: func() (<-chan os.Signal, func()) {
			ch := make(chan os.Signal, 4)
			signal.Notify(ch, os.Interrupt)
			return ch, func() { signal.Stop(ch) }
		},
	}
	os.Exit(c.run(context.Background(), os.Args[1:]))
}

// exitNow is how kong ends after it has printed help.
type exitNow int

// run is main without the process: it returns the exit code.
func (c *console) run(ctx context.Context, args []string) (code int) {
	defer func() {
		if r := recover(); r != nil {
			exit, ok := r.(exitNow)
			if !ok {
				panic(r)
			}
			code = int(exit)
		}
	}()
	var line cli
	parser, err := kong.New(&line, kong.Name("bothy"), kong.Description("Local agents, with plugins for all they can do."),
		verbs.Vars(), kong.Writers(c.out, c.err), kong.Exit(func(code int) { panic(exitNow(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}))
	if err != nil {
		c.complain(err)
		return exitFailed
	}
	if len(args) > 0 && args[0] == completeVerb {
		return c.completeWord(ctx, parser.Model, args[1:])
	}
	args = c.conversation(args)
	if len(args) == 0 {
		args = []string{"--help"} // who says nothing wants to know what there is
	}
	args = familiar(args)
	parsed, err := parser.Parse(args)
	if err != nil {
		if text := instead(err, args); text != "" {
			word, _, _ := strings.Cut(err.Error(), ",")
			c.say("bothy: %s: %s", show.Text(word), text)
			return exitUsage
		}
		c.complain(err)
		c.say("Run `%s --help` to see what it takes.", helpName(err, args))
		return exitUsage
	}
	if err := c.apply(line); err != nil {
		c.complain(err)
		return errorCode(err)
	}
	c.role = roleOf(parsed.Selected())
	parsed.BindTo(ctx, (*context.Context)(nil))
	parsed.Bind(parser.Model)
	return c.end(parsed.Run(c))
}

// helpName is the verb that a usage error is about: of those that were written,
// for a default may have been taken in place of one that is not there.
func helpName(err error, args []string) string {
	var parse *kong.ParseError
	if !errors.As(err, &parse) || parse.Context == nil {
		return "bothy"
	}
	n := parse.Context.Selected()
	for n != nil && n.Parent != nil && n.Parent.DefaultCmd == n && !slices.Contains(args, n.Name) {
		n = n.Parent
	}
	if n == nil || n.Parent == nil {
		return "bothy"
	}
	return "bothy " + n.Path()
}

func (c *console) apply(line cli) error {
	c.json = line.JSON
	c.color = c.wantsColor(line.NoColor)
	if line.Dir == "" {
		return nil
	}
	dir := c.path(line.Dir)
	if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
		return usageError{fmt.Sprintf("-C %s is no directory", line.Dir)}
	}
	c.dir = dir
	return nil
}

// end prints an error that was not printed yet and gives the exit code.
func (c *console) end(err error) int {
	var exit exitError
	if err != nil && (!errors.As(err, &exit) || exit.err != nil) {
		c.complain(err)
	}
	return errorCode(err)
}
