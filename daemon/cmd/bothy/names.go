package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// namesTime is how long a completion may wait for the daemon.
const namesTime = 250 * time.Millisecond

// names asks the daemon what there is of a kind: runs of the project, agents,
// models, tools, plugins or skills. It never starts one; without an answer in time
// there are no names.
func (c *console) names(ctx context.Context, l *line, kind string) []candidate {
	if c.apply(cli{Dir: l.dir}) != nil {
		return nil
	}
	socket, err := rpc.FindSocket(c.env)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, namesTime)
	defer cancel()
	cl := &client.Client{Socket: socket, Name: "bothy complete", Role: rpc.RoleObserve}
	defer c.close(cl)
	switch kind {
	case "run":
		project, err := c.project(l.named)
		if err != nil {
			return nil
		}
		return runNames(ctx, cl, project)
	case "agent":
		return blockNames(ctx, cl, "agent")
	case "model":
		return modelNames(ctx, cl)
	case "tool":
		return toolNames(ctx, cl)
	case "plugin":
		return pluginNames(ctx, cl)
	case "proposal":
		return proposalNames(ctx, cl)
	case "rule":
		return ruleNames(ctx, cl)
	case "skill":
		project, err := c.skillsOf(l.named)
		if err != nil {
			return nil
		}
		return skillNames(ctx, cl, project)
	default:
		return nil
	}
}

func runNames(ctx context.Context, cl *client.Client, project string) []candidate {
	list, err := cl.Runs(ctx, rpc.RunsParams{Project: project, Limit: 50})
	if err != nil {
		return nil
	}
	var found []candidate
	for _, r := range list {
		found = append(found, candidate{r.Alias, shorten(r.Summary, 50)})
	}
	return found
}

func toolNames(ctx context.Context, cl *client.Client) []candidate {
	list, err := cl.Tools(ctx)
	if err != nil {
		return nil
	}
	var found []candidate
	for _, t := range list {
		summary, _, _ := strings.Cut(t.Description, "\n")
		found = append(found, candidate{t.Name, shorten(summary, 60)})
	}
	return found
}

// skillNames are those of all skills, whatever their status: one that is off is
// there to be turned on.
func skillNames(ctx context.Context, cl *client.Client, project string) []candidate {
	list, err := cl.Skills(ctx, rpc.SkillQuery{Project: project})
	if err != nil {
		return nil
	}
	var found []candidate
	for _, s := range list.Skills {
		if n := len(found); n == 0 || found[n-1].word != s.Name { // they come by name, the one that counts first
			found = append(found, candidate{s.Name, shorten(oneLine(s.Description), 60)})
		}
	}
	return found
}

// modelNames are the configured aliases and, when the providers answer soon
// enough, what they list.
func modelNames(ctx context.Context, cl *client.Client) []candidate {
	found := blockNames(ctx, cl, "model")
	list, err := cl.Models(ctx, rpc.ModelsParams{})
	if err != nil {
		return found
	}
	for _, m := range list.Models {
		if x := (candidate{m.Alias, m.Provider}); !slices.ContainsFunc(found, func(y candidate) bool { return y.word == x.word }) {
			found = append(found, x)
		}
	}
	return found
}

// blockNames are the labels of a kind of block in the configuration in force.
func blockNames(ctx context.Context, cl *client.Client, block string) []candidate {
	list, err := cl.Settings(ctx)
	if err != nil {
		return nil
	}
	var found []candidate
	for _, s := range list {
		rest, of := strings.CutPrefix(s.Name, block+".")
		label, _, has := strings.Cut(rest, ".")
		if of && has && !slices.Contains(found, candidate{word: label}) {
			found = append(found, candidate{word: label})
		}
	}
	return found
}
