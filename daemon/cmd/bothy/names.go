package main

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
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
	return c.offers(ctx, cl, kind, l.named)
}

// offers are the names of a kind, each with what it is.
func (c *console) offers(ctx context.Context, cl *client.Client, kind, named string) []candidate {
	switch kind {
	case "run":
		project, err := c.project(named)
		if err != nil {
			return nil
		}
		list, err := cl.Runs(ctx, rpc.RunsParams{Project: project, Limit: 50})
		return offered(list, err, func(r rpc.RunSummary) candidate { return candidate{r.Alias, show.Shorten(r.Summary, 50)} })
	case "agent":
		project, err := c.skillsOf(named)
		if err != nil {
			return nil
		}
		list, err := cl.Agents(ctx, rpc.AgentsParams{Project: project})
		return offered(list, err, func(a rpc.Agent) candidate { return candidate{a.Name, show.Shorten(show.OneLine(a.Description), 60)} })
	case "model": // the configured aliases and, when the providers answer soon enough, what they list
		found := blockNames(ctx, cl, "model")
		list, err := cl.Models(ctx, rpc.ModelsParams{})
		listed := offered(list.Models, err, func(m rpc.Model) candidate { return candidate{m.Alias, m.Provider} })
		return append(found, slices.DeleteFunc(listed, func(x candidate) bool { return slices.Contains(found, candidate{word: x.word}) })...)
	case "tool":
		list, err := cl.Tools(ctx)
		return offered(list, err, func(t sdk.Tool) candidate {
			summary, _, _ := strings.Cut(t.Description, "\n")
			return candidate{t.Name, show.Shorten(summary, 60)}
		})
	case "plugin": // and provider, by the label of its block
		list, err := cl.Plugins(ctx)
		return offered(list, err, func(p rpc.Plugin) candidate { return candidate{p.Instance, p.State} })
	case "person":
		list, err := cl.People(ctx, rpc.PeopleParams{})
		return offered(list.People, err, func(p rpc.ListedPerson) candidate { return candidate{p.Channel + "/" + p.Called, p.Name} })
	case "mcp":
		list, err := cl.Plugins(ctx)
		list = slices.DeleteFunc(list, func(p rpc.Plugin) bool { return !strings.HasPrefix(p.Instance, sdk.MCPPrefix) })
		return offered(list, err, func(p rpc.Plugin) candidate { return candidate{strings.TrimPrefix(p.Instance, sdk.MCPPrefix), p.State} })
	case "proposal":
		list, err := cl.Proposals(ctx, rpc.ProposalsParams{Limit: 50})
		return offered(list, err, func(p sdk.Proposal) candidate {
			return candidate{p.ID, show.Shorten(show.OneLine(cmp.Or(p.Command, asksWhat(p), p.Tool)), 60)}
		})
	case "rule": // that can be forgotten
		list, err := cl.Rules(ctx, rpc.RulesParams{})
		return offered(list.Remembered, err, func(r sdk.RememberedRule) candidate {
			return candidate{r.ID, show.Shorten(show.OneLine(ruleText(r.PolicyRule)), 60)}
		})
	case "skill": // whatever its status: one that is off is there to be turned on
		project, err := c.skillsOf(named)
		if err != nil {
			return nil
		}
		list, err := cl.Skills(ctx, rpc.SkillQuery{Project: project})
		all := offered(list.Skills, err, func(s sdk.Skill) candidate { return candidate{s.Name, show.Shorten(show.OneLine(s.Description), 60)} })
		return slices.CompactFunc(all, func(a, b candidate) bool { return a.word == b.word }) // the one that counts is the first of its name
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
	return each(list, offer)
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
