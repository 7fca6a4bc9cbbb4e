package main

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

type entriesCmd struct {
	Ls  entriesLsCmd  `cmd:"" default:"withargs" help:"List what a run knows."`
	Get entriesGetCmd `cmd:"" help:"Print entries, and have the run's model see them."`
	Set entriesSetCmd `cmd:"" help:"Create or change an entry."`
	Rm  entriesRmCmd  `cmd:"" help:"Take entries out of what a run sees."`
	Cp  entriesCpCmd  `cmd:"" help:"Copy an entry to another path."`
	Mv  entriesMvCmd  `cmd:"" help:"Give an entry another path."`
}

// Help adds to the verb's help.
func (entriesCmd) Help() string {
	return `An entry is a text under a path such as known://NAME: what a model found out, what a tool answered, what a plugin keeps. A model sees an entry whole, by its summary, or not at all.

You may write known://, unknown:// and update://, and what a plugin's scheme lets clients write. What happened in a turn stays as it is. run://ALIAS is a run of the project: a text is a prompt for it, --attributes alone configure it, --state cancelled ends its work, and mv renames it. A path without a scheme is a file of the project: set, rm, cp and mv change it as the files plugin's tools do, which policy judges and "bothy runs undo" takes back.

Examples:

    bothy entries ls 'known://**'
    bothy entries get known://plan
    bothy entries set known://style "tabs, no semicolons"
    bothy entries set known://old --visibility archived
    bothy entries mv known://plan known://plan/done
    bothy entries get 'run://fix-*'
    bothy entries set run://fix-42 "now run the tests" --attributes '{"mode":"act"}'
    bothy entries cp known://plan PLAN.md
`
}

// ofRun is how a verb takes the run whose entries are meant.
type ofRun struct {
	Run     string `short:"r" placeholder:"RUN" complete:"run" help:"The run's alias or id; the project's newest when absent."`
	Project string `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
}

// open implements runOpener.
func (o ofRun) open(ctx context.Context, c *console) (*client.Client, rpc.RunRef, error) {
	if o.Run != "" {
		return namedRun{o.Run, o.Project}.open(ctx, c)
	}
	return runArg{Project: o.Project}.open(ctx, c)
}

// of is how the run is taken whose entry a path is; run://ALIAS is one of the project itself.
func (o ofRun) of(path string) runOpener {
	if sdk.SchemeOf(path) == "run" {
		return ofProject(o.Project)
	}
	return o
}

// ofProject opens no run, and names the project.
type ofProject string

func (o ofProject) open(ctx context.Context, c *console) (*client.Client, rpc.RunRef, error) {
	project, cl, err := c.connectIn(ctx, string(o))
	return cl, rpc.RunRef{Project: project}, err
}

// done shows what a verb came to.
func done(c *console) func(sdk.EntryDone) error {
	return told(c, func(d sdk.EntryDone) string { return d.Text })
}
