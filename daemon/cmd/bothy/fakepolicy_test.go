package main

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// fakePolicy answers with what a test gave it, and keeps the answers it got.
type fakePolicy struct {
	mu        sync.Mutex
	proposals []sdk.Proposal
	answers   []rpc.Resolve
	asked     []any
	rules     rpc.Rules
	explained rpc.Explained
	audit     []rpc.AuditRecord
	damage    *sdk.JournalDamage
	silent    error                 // why no proposal can be shown
	change    func(p *sdk.Proposal) // of each that comes; nil leaves it
	resolve   func(p rpc.Resolve) (rpc.Resolved, error)
}

func (f *fakePolicy) was(question any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, question)
}

// propose adds a proposal, or puts another in the place of one.
func (f *fakePolicy) propose(p sdk.Proposal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.change != nil {
		f.change(&p)
	}
	f.proposals = append(slices.DeleteFunc(slices.Clone(f.proposals), func(x sdk.Proposal) bool { return x.ID == p.ID }), p)
}

func (f *fakePolicy) resolved() []rpc.Resolve {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.answers)
}

func (f *fakePolicy) Proposals(context.Context) ([]sdk.Proposal, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.silent != nil {
		return nil, f.silent
	}
	return slices.DeleteFunc(slices.Clone(f.proposals), func(x sdk.Proposal) bool { return x.State.Ended() }), nil
}

func (f *fakePolicy) Answered(context.Context, int64, int64, string, int) ([]sdk.Proposal, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.proposals), func(x sdk.Proposal) bool { return !x.State.Ended() }), nil
}

// Proposal is the one of an id, for tests that answer it.
func (f *fakePolicy) Proposal(_ context.Context, id string) (sdk.Proposal, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.silent != nil {
		return sdk.Proposal{}, f.silent
	}
	for _, p := range f.proposals {
		if p.ID == id {
			return p, nil
		}
	}
	return sdk.Proposal{}, sdk.Errorf(sdk.NotFound, "there is no proposal %q", id)
}

func (f *fakePolicy) Resolve(_ context.Context, p rpc.Resolve) (rpc.Resolved, error) {
	f.mu.Lock()
	f.answers = append(f.answers, p)
	f.mu.Unlock()
	return f.resolve(p)
}

func (f *fakePolicy) ResolveRun(ctx context.Context, _ string, p rpc.Resolve, _ string) (rpc.Resolved, error) {
	return f.Resolve(ctx, p)
}

func (*fakePolicy) Message(context.Context, rpc.TicketParams) (rpc.Ticket, error) {
	return rpc.Ticket{}, nil
}

func (*fakePolicy) ResolveByChannel(context.Context, rpc.ChannelAnswer) (rpc.Resolved, error) {
	return rpc.Resolved{}, nil
}

func (f *fakePolicy) Rules(context.Context, string) ([]sdk.RememberedRule, error) {
	return f.rules.Remembered, nil
}

func (f *fakePolicy) Forget(_ context.Context, _, id string) (sdk.RememberedRule, error) {
	return f.rules.Remembered[slices.IndexFunc(f.rules.Remembered, func(r sdk.RememberedRule) bool { return r.ID == id })], nil
}

func (f *fakePolicy) Explain(_ context.Context, run int64, path string) (rpc.Explained, error) {
	f.was(fmt.Sprint(run, " ", path))
	return f.explained, nil
}

// Records gives a page at a time, as the daemon does.
func (f *fakePolicy) Records(_ context.Context, q sdk.AuditQuery) (page []sdk.AuditRecord, next int64, err error) {
	for _, r := range f.audit {
		switch {
		case r.Seq <= q.After || q.Events && r.Event == "" || r.Time.Before(q.Since):
		case len(page) == 2:
			return page, page[1].Seq, nil
		default:
			page = append(page, r)
		}
	}
	return page, 0, nil
}

func (f *fakePolicy) Raise(string, string) {}
