package main

import (
	"context"
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
	verdict   rpc.AuditVerdict
	silent    error // why no proposal can be shown
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
	f.proposals = append(slices.DeleteFunc(slices.Clone(f.proposals), func(x sdk.Proposal) bool { return x.ID == p.ID }), p)
}

func (f *fakePolicy) resolved() []rpc.Resolve {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.answers)
}

func (f *fakePolicy) Proposals(_ context.Context, p rpc.ProposalsParams) (rpc.Proposals, error) {
	f.was(p)
	f.mu.Lock()
	defer f.mu.Unlock()
	found := slices.DeleteFunc(slices.Clone(f.proposals), func(x sdk.Proposal) bool { return x.State.Ended() && !p.Ended })
	return rpc.Proposals{Proposals: found}, nil
}

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

func (f *fakePolicy) Rules(_ context.Context, project string) (rpc.Rules, error) {
	f.was(rpc.RulesParams{Project: project})
	return f.rules, nil
}

func (f *fakePolicy) Forget(_ context.Context, p rpc.RuleRef) (sdk.RememberedRule, error) {
	f.was(p)
	for _, r := range f.rules.Remembered {
		if r.ID == p.ID {
			return r, nil
		}
	}
	return sdk.RememberedRule{}, sdk.Errorf(sdk.NotFound, "there is no rule %q", p.ID)
}

func (f *fakePolicy) Explain(_ context.Context, p rpc.ExplainParams) (rpc.Explained, error) {
	f.was(p)
	return f.explained, nil
}

// Records gives a page at a time, as the daemon does.
func (f *fakePolicy) Records(_ context.Context, p rpc.AuditParams) (rpc.AuditPage, error) {
	f.was(p)
	var page rpc.AuditPage
	for _, r := range f.audit {
		switch {
		case r.Seq <= p.After || p.Events && r.Event == "" || r.Time.Before(p.Since):
		case len(page.Records) == 2:
			page.Next = page.Records[1].Seq
			return page, nil
		default:
			page.Records = append(page.Records, r)
		}
	}
	return page, nil
}

func (f *fakePolicy) Verify(context.Context) (rpc.AuditVerdict, error) { return f.verdict, nil }

func (f *fakePolicy) Security(string, string) {}
