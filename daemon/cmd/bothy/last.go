package main

import (
	"context"
	"fmt"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// goOnFlags say which run a prompt is for.
type goOnFlags struct {
	Alias    string `name:"run" short:"r" placeholder:"ALIAS" complete:"run" help:"The name of the run to continue, or to make; a new one when absent."`
	Continue bool   `short:"c" aliases:"last" help:"Go on with the project's last run: the one that was given a prompt last. --last is the same."`
}

// check refuses two names for one run.
func (f goOnFlags) check() error {
	if f.Continue && f.Alias != "" {
		return usageError{"-c is the project's last run, and -r names one: leave out one of them"}
	}
	return nil
}

// name is the alias of the run, empty for a new one.
func (f goOnFlags) name(ctx context.Context, cl *client.Client, project string) (string, error) {
	if !f.Continue {
		return f.Alias, nil
	}
	return lastRun(ctx, cl, project)
}

// lastRun is the alias of the project's run that was given a prompt last. It is the
// newest one, unless somebody went on with an older one since.
func lastRun(ctx context.Context, cl *client.Client, project string) (string, error) {
	list, err := cl.Runs(ctx, rpc.RunsParams{Project: project, Last: true, Limit: 1})
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", usageError{fmt.Sprintf("%s has no runs yet: `bothy run \"...\"` makes one", project)}
	}
	return list[0].Alias, nil
}

// lastFlag names the project's last run where a verb takes the name of one.
type lastFlag struct {
	Last bool `help:"The run of the project that was given a prompt last, instead of a name."`
}

// name is the run that was named, or the last one of the project.
func (f lastFlag) name(ctx context.Context, c *console, run, project string) (string, error) {
	if !f.Last {
		return run, nil
	}
	if run != "" {
		return "", usageError{fmt.Sprintf("--last names a run, and so does %s: leave out one of them", run)}
	}
	project, cl, err := c.connectIn(ctx, project)
	if err != nil {
		return "", err
	}
	defer c.close(cl)
	return lastRun(ctx, cl, project)
}
