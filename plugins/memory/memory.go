package main

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/fact"
	"github.com/bothyd/bothy/sdk/hook"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/tool"
)

// memory is the plugin.
type memory struct {
	block block
	index index
	parts parts
}

func newMemory() *memory {
	return &memory{index: index{owners: map[string]*owned{}, runs: map[string]sdk.Run{}}, parts: parts{of: map[int64]part{}}}
}

func (m *memory) tools() tool.Set { return tool.Set{m.rememberTool(), m.forgetTool(), m.recallTool()} }

func (m *memory) hooks() hook.Set {
	return hook.Set{
		hook.Filter("assembly.system", m.tell).Priority(100), // behind others, whose text it stands before
		hook.On("entry.changed", m.changed).Of(fact.Scheme),
		hook.On("run.deleted", m.deleted),
		hook.AfterRest(m.rested),
	}
}

// tell puts what is remembered before the system text.
func (m *memory) tell(ctx context.Context, p sdk.Prompt) (sdk.Prompt, error) {
	if p.Run.NoMemory {
		return p, nil
	}
	text, err := m.partOf(ctx, p.Run, p.Ceiling)
	if err == nil && text != "" {
		p.System = text + "\n\n" + p.System
	}
	return p, err
}

// partOf is what a run's model is told: as it was told before, or made anew.
func (m *memory) partOf(ctx context.Context, run sdk.Run, window int) (string, error) {
	m.index.knows(run)
	if text, made := m.parts.find(run); made {
		return text, nil
	}
	owner, err := m.index.load(ctx, run.Owner)
	if err != nil {
		return "", err
	}
	return m.parts.keep(run, owner, window), nil
}

// changed follows a change of a fact, whoever made it.
func (m *memory) changed(_ context.Context, x sdk.EntryEvent) error {
	if owner, otherwise := m.index.follow(x); otherwise {
		m.parts.drop(owner)
	}
	return nil
}

// deleted lets go of what is kept for a run.
func (m *memory) deleted(_ context.Context, x sdk.RunEvent) error {
	m.parts.forget(x.Run.ID)
	m.index.forget(x.Run.Key)
	return nil
}

// factsOf are those of the owner of the run that a call belongs to.
func (m *memory) factsOf(ctx context.Context, call sdk.Invocation) (*owned, error) {
	if owner := m.index.runOf(call.Run).Owner; owner != "" {
		return m.index.load(ctx, owner)
	}
	found, err := host.From(ctx).Entries(ctx, fact.Every)
	if err != nil || len(found) == 0 {
		return &owned{}, err
	}
	owner := ownerIn(found[0].Scope)
	m.index.knows(sdk.Run{Key: call.Run, Origin: sdk.Origin{Owner: owner}})
	return m.index.load(ctx, owner)
}
