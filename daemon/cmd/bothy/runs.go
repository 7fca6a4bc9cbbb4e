package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type runsCmd struct {
	List    runsListCmd    `cmd:"" default:"withargs" help:"List the project's runs, newest first."`
	Show    runsShowCmd    `cmd:"" help:"Tell a run: its prompts, turns, actions, tokens, and why it stopped."`
	Abort   runsAbortCmd   `cmd:"" help:"End what a run works on now."`
	Resume  runsResumeCmd  `cmd:"" help:"Go on with a run whose last prompt was cut short."`
	Compact runsCompactCmd `cmd:"" help:"Have a run's model summarize what was said, to make room."`
	Fork    runsForkCmd    `cmd:"" help:"Make a run that begins with what another one knows."`
	Diff    runsDiffCmd    `cmd:"" help:"Show what a run changed in the project's files."`
	Undo    runsUndoCmd    `cmd:"" help:"Take back what a run changed in the project's files."`
	Redo    runsRedoCmd    `cmd:"" help:"Make again what the last undo of a run took back."`
	Reset   runsResetCmd   `cmd:"" help:"Give a run a new sandbox; what it knows stays."`
	Rm      runsRmCmd      `cmd:"" aliases:"delete" help:"Delete runs for good."`
	Rename  runsRenameCmd  `cmd:"" help:"Give a run another name."`
	Inject  runsInjectCmd  `cmd:"" help:"Give a run one more prompt, and do not wait for it."`
	Config  runsConfigCmd  `cmd:"" help:"Show and change what a run has of its own: model, temperature, persona, limits."`
}

// runArg is how a verb takes the run that it is about.
type runArg struct {
	Alias *string `arg:"" optional:"" name:"run" complete:"run" help:"The run's alias or id; the project's newest when absent."`
	lastFlag
	Project string `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
}

// namedRun is runArg for verbs that cannot be taken back: nothing is guessed.
type namedRun struct {
	Alias   string `arg:"" name:"run" complete:"run" help:"The run's alias or id."`
	Project string `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
}

// open connects and resolves the run. The caller closes the client.
func (a runArg) open(ctx context.Context, c *console) (*client.Client, rpc.RunRef, error) {
	cl, err := c.connect(ctx)
	if err != nil {
		return nil, rpc.RunRef{}, err
	}
	ref, err := a.ref(ctx, c, cl)
	if err != nil {
		c.close(cl)
	}
	return cl, ref, err
}

// open connects and names the run: a name that is wrong starts no daemon. The
// caller closes the client.
func (a namedRun) open(ctx context.Context, c *console) (*client.Client, rpc.RunRef, error) {
	ref, err := a.ref(c)
	if err != nil {
		return nil, ref, err
	}
	cl, err := c.connect(ctx)
	return cl, ref, err
}

// ref resolves what was named; the newest run of the project when nothing was.
func (a runArg) ref(ctx context.Context, c *console, cl *client.Client) (rpc.RunRef, error) {
	if a.Last {
		alias := ""
		if a.Alias != nil {
			alias = *a.Alias
		}
		alias, err := a.name(ctx, c, alias, a.Project)
		if err != nil {
			return rpc.RunRef{}, err
		}
		a.Alias = &alias
	}
	if a.Alias != nil {
		return namedRun{*a.Alias, a.Project}.ref(c)
	}
	project, err := c.project(a.Project)
	if err != nil {
		return rpc.RunRef{}, err
	}
	list, err := cl.Runs(ctx, rpc.RunsParams{Project: project, Limit: 1})
	if err != nil {
		return rpc.RunRef{}, err
	}
	if len(list) == 0 {
		return rpc.RunRef{}, usageError{fmt.Sprintf("%s has no runs yet: `bothy run \"...\"` makes one", project)}
	}
	return rpc.RunRef{Run: list[0].Alias, Project: project}, nil
}

// ref names the run in its project. An id needs none, so it is understood
// where there is no project too.
func (a namedRun) ref(c *console) (rpc.RunRef, error) {
	if a.Alias == "" { // a variable of a script that is not set, and no wish for the newest one
		return rpc.RunRef{}, usageError{"the run's name is empty: `bothy runs list` shows what there is"}
	}
	project, err := c.project(a.Project)
	if _, notNumber := strconv.ParseInt(a.Alias, 10, 64); err != nil && notNumber == nil && a.Project == "" {
		return rpc.RunRef{Run: a.Alias}, nil
	}
	return rpc.RunRef{Run: a.Alias, Project: project}, err
}

// filter is what a list is of: one run, else one project, else all.
func (c *console) filter(run, named string) (name, project string, err error) {
	switch {
	case run != "":
		ref, err := namedRun{Alias: run, Project: named}.ref(c)
		return ref.Run, ref.Project, err
	case named != "":
		project, err = c.project(named)
	}
	return "", project, err
}

// runStatus says a run's status, and how many prompts wait. A run that never
// had a prompt is not queued, though it has that status until its first one:
// tools are called in it, or it was made for later.
func runStatus(r rpc.RunSummary) string {
	switch {
	case r.Status == sdk.StatusQueued && r.Summary == "":
		return "no prompts"
	case r.Queued > 0 && r.Status == sdk.StatusQueued:
		return fmt.Sprintf("queued (%d)", r.Queued)
	case r.Queued > 0:
		return fmt.Sprintf("%s, %d queued", show.Status(r.Status), r.Queued)
	default:
		return show.Status(r.Status)
	}
}
