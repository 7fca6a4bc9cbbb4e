package server

import (
	"context"
	"path/filepath"
	"slices"
	"sync"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// fakePolicy answers with what it is given.
type fakePolicy struct {
	mu       sync.Mutex
	resolved []rpc.Resolve
	outputs  []string
	sessions []string
	open     []sdk.Proposal
}

func (f *fakePolicy) Proposals(context.Context) ([]sdk.Proposal, error) {
	return slices.Clone(f.open), nil
}

func (f *fakePolicy) Answered(context.Context, int64, int64, string, int) ([]sdk.Proposal, error) {
	return nil, nil
}

func (f *fakePolicy) Resolve(_ context.Context, p rpc.Resolve) (rpc.Resolved, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.resolved = append(f.resolved, p)
	return rpc.Resolved{}, nil
}

func (f *fakePolicy) ResolveRun(ctx context.Context, session string, p rpc.Resolve, output string) (rpc.Resolved, error) {
	f.mu.Lock()
	f.outputs, f.sessions = append(f.outputs, output), append(f.sessions, session)
	f.mu.Unlock()
	_, err := f.Resolve(ctx, p)
	return rpc.Resolved{Status: sdk.StatusRunning, Seq: 5}, err
}

func (f *fakePolicy) Rules(_ context.Context, root string) ([]sdk.RememberedRule, error) {
	return []sdk.RememberedRule{{ID: filepath.Base(root)}}, nil
}

func (f *fakePolicy) Forget(context.Context, string, string) (sdk.RememberedRule, error) {
	return sdk.RememberedRule{}, nil
}

func (f *fakePolicy) Explain(context.Context, int64, string) (rpc.Explained, error) {
	return rpc.Explained{}, nil
}

// fakeAudit keeps the security events that it hears.
type fakeAudit struct {
	mu      sync.Mutex
	events  []string
	details []string
}

func (f *fakeAudit) Records(context.Context, sdk.AuditQuery) ([]sdk.AuditRecord, int64, error) {
	return nil, 0, nil
}

func (f *fakeAudit) Raise(event, detail string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events, f.details = append(f.events, event), append(f.details, detail)
}

// noRules are written down.
func noRules(string) []sdk.PolicyRule { return nil }

func (f *fakePolicy) Message(_ context.Context, p rpc.TicketParams) (rpc.Ticket, error) {
	return rpc.Ticket{ID: p.ID, Text: p.Hash, Why: p.Why, Accept: p.Why == ""}, nil
}

func (f *fakePolicy) ResolveByChannel(ctx context.Context, p rpc.ChannelAnswer) (rpc.Resolved, error) {
	return f.Resolve(ctx, rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: p.Answer})
}
