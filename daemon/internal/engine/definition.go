package engine

import (
	"context"
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
)

// agentScheme is that of the definitions that loops began with, by their digest.
const agentScheme = "agent://"

// keptAt names a definition that a project has.
type keptAt struct {
	project int64
	digest  string
}

// keepAgent is the write that keeps the definition of an agent for the loops that begin with it; none where the
// project has it already.
func (e *Engine) keepAgent(ctx context.Context, p placed, digest string) ([]sdk.Write, error) {
	if _, is := e.kept.Load(keptAt{p.project.ID, digest}); is {
		return nil, nil
	}
	there, err := e.cfg.Store.Entries(ctx, sdk.EntryQuery{Project: p.project.Root, Path: agentScheme + digest})
	if err != nil || len(there) > 0 {
		return nil, err
	}
	body := string(encode(p.agent))
	return []sdk.Write{{
		Path: agentScheme + digest, Body: &body, Attributes: encode(map[string]string{"name": p.agent.Name}), Writer: sdk.WriterSystem, Visibility: sdk.Archived,
	}}, nil
}

// keptAgent is the agent that a loop began with, as the run has it and whatever became of it since. A loop that keeps none has the agent of
// that name as it is now.
func (e *Engine) keptAgent(ctx context.Context, a *activeLoop) (sdk.Agent, error) {
	digest := a.given().Agent
	at := agentsAt(a.project, a.run.Private)
	now, found := e.cfg.Agents.Find(at, a.loop.Agent)
	if digest == "" || found && now.Agent.Digest() == digest {
		agent, err := e.AgentOf(at, a.loop.Agent)
		return agent.In(a.run), err
	}
	there, err := e.cfg.Store.Entries(ctx, sdk.EntryQuery{Project: a.project.Root, Path: agentScheme + digest})
	if err != nil {
		return sdk.Agent{}, err
	}
	var kept sdk.Agent
	if len(there) == 0 || json.Unmarshal([]byte(there[0].Body), &kept) != nil {
		return sdk.Agent{}, sdk.Errorf(sdk.NotFound, "the agent %s has changed, and how it was when the prompt was given is not kept; give the prompt again", a.loop.Agent)
	}
	return kept.In(a.run), nil
}
