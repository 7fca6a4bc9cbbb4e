package main

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
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

// offered are the candidates that a list gives; without an answer there
// are none.
func offered[T any](list []T, err error, offer func(T) candidate) []candidate {
	if err != nil {
		return nil
	}
	var found []candidate
	for _, x := range list {
		found = append(found, offer(x))
	}
	return found
}

func runNames(ctx context.Context, cl *client.Client, project string) []candidate {
	list, err := cl.Runs(ctx, rpc.RunsParams{Project: project, Limit: 50})
	return offered(list, err, func(r rpc.RunSummary) candidate { return candidate{r.Alias, shorten(r.Summary, 50)} })
}

func toolNames(ctx context.Context, cl *client.Client) []candidate {
	list, err := cl.Tools(ctx)
	return offered(list, err, func(t sdk.Tool) candidate {
		summary, _, _ := strings.Cut(t.Description, "\n")
		return candidate{t.Name, shorten(summary, 60)}
	})
}

// pluginNames are the labels of plugins and providers, with their states.
func pluginNames(ctx context.Context, cl *client.Client) []candidate {
	list, err := cl.Plugins(ctx)
	return offered(list, err, func(p rpc.Plugin) candidate { return candidate{p.Instance, p.State} })
}

// proposalNames are the ids of what waits for an answer.
func proposalNames(ctx context.Context, cl *client.Client) []candidate {
	list, err := cl.Proposals(ctx, rpc.ProposalsParams{Limit: 50})
	return offered(list, err, func(p sdk.Proposal) candidate {
		return candidate{p.ID, shorten(oneLine(cmp.Or(p.Command, p.Tool)), 60)}
	})
}

// ruleNames are the ids of the rules that can be forgotten.
func ruleNames(ctx context.Context, cl *client.Client) []candidate {
	list, err := cl.Rules(ctx, rpc.RulesParams{})
	return offered(list.Remembered, err, func(r sdk.RememberedRule) candidate {
		return candidate{r.ID, shorten(oneLine(ruleText(r.PolicyRule)), 60)}
	})
}

// skillNames are those of all skills, whatever their status: one that is off is
// there to be turned on. Skills come by name, the one that counts first.
func skillNames(ctx context.Context, cl *client.Client, project string) []candidate {
	list, err := cl.Skills(ctx, rpc.SkillQuery{Project: project})
	all := offered(list.Skills, err, func(s sdk.Skill) candidate { return candidate{s.Name, shorten(oneLine(s.Description), 60)} })
	return slices.CompactFunc(all, func(a, b candidate) bool { return a.word == b.word })
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
