package host

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/bothyd/bothy/daemon/internal/callback"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/plugin"
)

// Agents are those of plugins that their blocks take, as they say it themselves, in the order of the configuration; the place
// is the label of the block. Those of a plugin that crashed stay while it is started again.
func (s *Supervisor) Agents() (all []sdk.Definition) {
	for _, i := range s.instances() {
		i.mu.Lock()
		taken := i.agents
		if i.gone() {
			taken = nil
		}
		i.mu.Unlock()
		for _, a := range taken {
			all = append(all, sdk.Definition{Agent: a, Source: sdk.AgentOfPlugin, Place: i.name})
		}
	}
	return all
}

// untaken says which agents a block names and cannot have.
func untaken(spec inspect.Spec, m *sdk.Manifest) []inspect.Diagnostic {
	_, wrong := spec.Taken(m)
	return wrong
}

// Validate has the plugin of an instance judge a result, which is started now if its block waits for its first use. An
// error is no judgement, and refuses like the zero value: one of Invoke's, or unavailable when the plugin is
// not there, not_found when it judges nothing, validation when it says two things.
func (s *Supervisor) Validate(ctx context.Context, instance string, work sdk.Work) (sdk.Judgement, error) {
	if err := s.Ensure(ctx, instance); sdk.OutcomeOf(err) == sdk.Validation {
		return sdk.Judgement{}, sdk.Errorf(sdk.Unavailable, "what %s hands back is judged by the plugin %s, which is switched off: take enabled = false out of its block in the configuration", work.Agent, instance)
	}
	i, err := s.instance(instance)
	if err != nil {
		return sdk.Judgement{}, sdk.Errorf(sdk.Unavailable, "what %s hands back is judged by the plugin %q, which is not configured; write into the configuration: plugin %q {}", work.Agent, instance, instance)
	}
	if ctx, err = callback.Below(ctx, "the judgement of "+instance); err != nil {
		return sdk.Judgement{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Judging)
	defer cancel()
	if work.CallID == "" {
		work.CallID = uuid.NewString()
	}
	l, end, err := i.called(ctx, work.Key, work.RunDir)
	if err != nil {
		return sdk.Judgement{}, err
	}
	defer end()
	if !slices.Contains(l.manifest.Load().Kinds, plugin.KindAgent) {
		return sdk.Judgement{}, sdk.Errorf(sdk.NotFound, "the plugin %s judges nothing: name another one, or none, as the validator of the agent %s", instance, work.Agent)
	}
	var judged sdk.Judgement
	_, err = s.serve(ctx, nil, l, i, sdk.Caller{
		Call: work.CallID, Run: work.Key, Project: work.Project, RunDir: work.RunDir, Model: work.Model,
	}, l.agent, nil, func(rpc context.Context, deadline time.Time, _ sdk.Stream) (_ sdk.ToolResult, err error) { // it streams nothing
		work.Deadline, work.Project = deadline, l.told(work.Project)
		judged, err = l.agent.Validate(host.Outgoing(rpc), work)
		return sdk.ToolResult{}, err
	})
	if err != nil {
		return sdk.Judgement{}, err
	}
	return judged.Bounded(), nil
}
