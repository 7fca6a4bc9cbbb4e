package server

import (
	"context"
	"sync"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// fakePolicy answers with what it is given.
type fakePolicy struct {
	mu       sync.Mutex
	resolved []rpc.Resolve
}

func (f *fakePolicy) Proposals(context.Context, rpc.ProposalsParams) (rpc.Proposals, error) {
	return rpc.Proposals{}, nil
}

func (f *fakePolicy) Proposal(_ context.Context, id string) (sdk.Proposal, error) {
	return sdk.Proposal{ID: id}, nil
}

func (f *fakePolicy) Resolve(_ context.Context, p rpc.Resolve) (rpc.Resolved, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.resolved = append(f.resolved, p)
	return rpc.Resolved{}, nil
}

func (f *fakePolicy) Rules(context.Context, string) (rpc.Rules, error) { return rpc.Rules{}, nil }

func (f *fakePolicy) Forget(context.Context, rpc.RuleRef) (sdk.RememberedRule, error) {
	return sdk.RememberedRule{}, nil
}

func (f *fakePolicy) Explain(context.Context, rpc.ExplainParams) (rpc.Explained, error) {
	return rpc.Explained{}, nil
}

// fakeAudit keeps the security events that it hears.
type fakeAudit struct {
	mu     sync.Mutex
	events []string
}

func (f *fakeAudit) Records(context.Context, rpc.AuditParams) (rpc.AuditPage, error) {
	return rpc.AuditPage{}, nil
}

func (f *fakeAudit) Verify(context.Context) (rpc.AuditVerdict, error) {
	return rpc.AuditVerdict{}, nil
}

func (f *fakeAudit) Security(event, _ string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, event)
}
