package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// optionFlags are what a run has of its own. A flag that is not given changes nothing.
type optionFlags struct {
	Temperature   *float64 `placeholder:"T" help:"The run's temperature, from 0 to 2; =-1 is its agent's again."`
	Persona       *string  `placeholder:"TEXT" help:"The run's persona, in the place of its agent's. Once the run has begun it stays as it is."`
	ContextLimit  *int     `placeholder:"TOKENS" help:"What the run's model is sent at the most; 0 is what the model takes."`
	NoRepo        *bool    `help:"Leave the project's files unscanned."`
	NoInteraction *bool    `help:"Have the run ask nobody a question."`
	NoWeb         *bool    `help:"Leave out tools that search or read the web."`
	NoProposals   *bool    `help:"Leave out tools that run commands or ask a person, and deny what a person would be asked about."`
	NoMemory      *bool    `help:"Tell the run nothing of what is remembered, and learn nothing from it. Once the run has begun it stays so."`
}

func (f optionFlags) options() rpc.RunOptions {
	return rpc.RunOptions{
		Temperature: f.Temperature, Persona: f.Persona, ContextLimit: f.ContextLimit,
		NoRepo: f.NoRepo, NoInteraction: f.NoInteraction, NoWeb: f.NoWeb, NoProposals: f.NoProposals, NoMemory: f.NoMemory,
	}
}

type runsConfigCmd struct {
	namedRun
	Model string `short:"m" complete:"model" help:"The model for prompts that name none: an alias, or PROVIDER/NAME."`
	optionFlags
}

// Help adds to the verb's help.
func (runsConfigCmd) Help() string {
	return `Prints what the run has of its own in the place of what its agent and its model say; with flags it is changed first, and counts from the run's next prompt on. --no-web=false takes a flag back. A fork begins with what its parent has.

Examples:

    bothy runs config fix-42
    bothy runs config fix-42 --temperature 0.2 --context-limit 32000
    bothy runs config fix-42 --temperature=-1
    bothy runs config fix-42 -m ollama/qwen3 --no-web --no-proposals=false
    bothy runs config --json fix-42 | jq .model
`
}

// Run prints what is in force.
func (cmd runsConfigCmd) Run(ctx context.Context, c *console) error {
	return queryRun(ctx, c, cmd, func(cl *client.Client, ctx context.Context, run rpc.RunRef) (rpc.Configured, error) {
		return cl.Configure(ctx, rpc.RunConfig{Run: run.Run, Project: run.Project, Model: cmd.Model, RunOptions: cmd.options()})
	}, func(r rpc.Configured) error { return c.table([]string{"SETTING", "VALUE"}, configRows(r)) })
}

func configRows(r rpc.Configured) [][]string {
	rows := [][]string{{"agent", r.Agent}, {"model", r.Model}, {"temperature", "its agent's"}, {"persona", "its agent's"}, {"context limit", "its model's"}, {"left out", "nothing"}}
	if r.Temperature != nil {
		rows[2][1] = fmt.Sprint(*r.Temperature)
	}
	if r.Persona != "" {
		rows[3][1] = r.Persona
	}
	if r.ContextLimit > 0 {
		rows[4][1] = fmt.Sprintf("%d tokens", r.ContextLimit)
	}
	if out := leftOut(r.RunConfig); len(out) > 0 {
		rows[5][1] = strings.Join(out, ", ")
	}
	return rows
}

// leftOut are the words for the flags of a run.
func leftOut(r sdk.RunConfig) (words []string) {
	for _, flag := range []struct {
		set  bool
		word string
	}{{r.NoRepo, "repo"}, {r.NoInteraction, "interaction"}, {r.NoWeb, "web"}, {r.NoProposals, "proposals"}, {r.NoMemory, "memory"}} {
		if flag.set {
			words = append(words, flag.word)
		}
	}
	return words
}
