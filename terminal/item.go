package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// item is something that completes a word.
type item struct {
	name  string // what is put in the word's place, behind its mark
	about string
	takes bool // something is written behind it
}

// isCommand reports whether a command of the terminal has a name.
func isCommand(name string) bool {
	return slices.ContainsFunc(commands, func(s slash) bool { return s.name == name })
}

// commandItems are the commands of the terminal.
func commandItems() (all []item) {
	for _, s := range commands {
		all = append(all, item{s.name, s.help, s.takes != ""})
	}
	return all
}

// arguments are what a command takes one of.
var arguments = map[string]func(c *conversation, ctx context.Context) ([]item, error){
	"model":  (*conversation).modelItems,
	"agent":  (*conversation).agentItems,
	"resume": (*conversation).runItems,
	"skill":  (*conversation).skillItems,
	"mode": func(*conversation, context.Context) ([]item, error) {
		return []item{
			{string(sdk.ModeInteractive), "each call that changes something is asked about", false},
			{string(sdk.ModeRestricted), "what only reads, and files of the project, go ahead", false},
			{string(sdk.ModeWorkspace), "commands work on a copy of the project", false},
		}, nil
	},
	"keys": func(*conversation, context.Context) ([]item, error) {
		return []item{{"emacs", "ctrl-a, ctrl-e, ctrl-w and others", false}, {"vi", "esc leads to normal mode", false}}, nil
	},
}

// skillItems are the skills of the project that can be used.
func (c *conversation) skillItems(ctx context.Context) (all []item, err error) {
	found, err := c.cl.Skills(ctx, rpc.SkillQuery{Project: c.o.project, Status: sdk.SkillEnabled})
	for _, s := range found.Skills {
		all = append(all, item{s.Name, s.Description, true})
	}
	return all, err
}

// typedItems are what can be typed behind a slash beside commands: skills, and the prompts of
// MCP servers that run.
func (c *conversation) typedItems(ctx context.Context) ([]item, error) {
	all, err := c.skillItems(ctx)
	prompts, failed := c.cl.PeopleTools(ctx)
	for _, t := range prompts {
		if server, is := strings.CutPrefix(t.Plugin, sdk.MCPPrefix); is && t.Name != sdk.MCPAbout(server) {
			all = append(all, item{t.Name, t.Description, true})
		}
	}
	return all, cmp.Or(err, failed)
}

func (c *conversation) modelItems(ctx context.Context) (all []item, err error) {
	found, err := c.cl.Models(ctx, rpc.ModelsParams{})
	for _, m := range found.Models {
		about := m.Provider
		if m.Default {
			about += ", the default"
			all = slices.Insert(all, 0, item{m.Alias, about, false})
			continue
		}
		all = append(all, item{m.Alias, about, false})
	}
	return all, err
}

func (c *conversation) agentItems(ctx context.Context) (all []item, err error) {
	found, err := c.cl.Agents(ctx, rpc.AgentsParams{Project: c.o.project})
	for _, a := range found {
		all = append(all, item{a.Name, a.Description, false})
	}
	return all, err
}

// runItems are the runs of the project, the one that was worked in last first.
func (c *conversation) runItems(ctx context.Context) (all []item, err error) {
	found, err := c.cl.Runs(ctx, rpc.RunsParams{Project: c.o.project, Last: true})
	slices.SortStableFunc(found, func(a, b rpc.RunSummary) int { return b.LastActivity.Compare(a.LastActivity) })
	for _, r := range found {
		all = append(all, item{r.Alias, show.OneLine(r.LastPrompt), false})
	}
	return all, err
}
