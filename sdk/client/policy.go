package client

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Proposals lists what waits for a person.
func (c *Client) Proposals(ctx context.Context, p rpc.ProposalsParams) ([]sdk.Proposal, error) {
	found, err := ask[rpc.Proposals](ctx, c, rpc.MethodProposals, p)
	return found.Proposals, err
}

// Proposal asks for one proposal, whole.
func (c *Client) Proposal(ctx context.Context, id string) (sdk.Proposal, error) {
	return ask[sdk.Proposal](ctx, c, rpc.MethodProposal, rpc.ProposalRef{ID: id})
}

// Resolve answers a proposal. The error has the outcome conflict when somebody
// else was faster, when it expired, or when it is not what was shown any more.
func (c *Client) Resolve(ctx context.Context, p rpc.Resolve) (rpc.Resolved, error) {
	return ask[rpc.Resolved](ctx, c, rpc.MethodResolve, p)
}

// ResolveRun answers what a run proposes by the path of its entry, as it was last sent over this connection. Resolve, which
// names the hash of what was shown, is the surer one.
func (c *Client) ResolveRun(ctx context.Context, p rpc.RunResolve) (rpc.RunResolved, error) {
	return ask[rpc.RunResolved](ctx, c, rpc.MethodRunResolve, p)
}

// Rules lists the rules in force beside the built-in ones.
func (c *Client) Rules(ctx context.Context, p rpc.RulesParams) (rpc.Rules, error) {
	return ask[rpc.Rules](ctx, c, rpc.MethodRules, p)
}

// Forget removes a remembered rule, and answers with what it was.
func (c *Client) Forget(ctx context.Context, r rpc.RuleRef) (sdk.RememberedRule, error) {
	return ask[sdk.RememberedRule](ctx, c, rpc.MethodForget, r)
}

// Explain asks why an action ran, waited or was refused.
func (c *Client) Explain(ctx context.Context, p rpc.ExplainParams) (rpc.Explained, error) {
	return ask[rpc.Explained](ctx, c, rpc.MethodExplain, p)
}

// Audit asks for a page of the audit.
func (c *Client) Audit(ctx context.Context, p rpc.AuditParams) (rpc.AuditPage, error) {
	return ask[rpc.AuditPage](ctx, c, rpc.MethodAudit, p)
}

// Usage asks what completions used and cost.
func (c *Client) Usage(ctx context.Context, p rpc.UsageParams) (rpc.Usage, error) {
	return ask[rpc.Usage](ctx, c, rpc.MethodUsage, p)
}

// AuditVerify has the journal's chain checked.
func (c *Client) AuditVerify(ctx context.Context) (rpc.AuditVerdict, error) {
	return ask[rpc.AuditVerdict](ctx, c, rpc.MethodAuditVerify, nil)
}
