package daemon

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// policyFace is what waits for a person, and the rules, as the server shows them.
type policyFace struct{ d *Daemon }

var errNoProposals = sdk.Errorf(sdk.Unavailable, "nothing is proposed by this version")

// Proposals implements server.Policy.
func (f policyFace) Proposals(context.Context, rpc.ProposalsParams) (rpc.Proposals, error) {
	return rpc.Proposals{}, errNoProposals
}

// Proposal implements server.Policy.
func (f policyFace) Proposal(context.Context, string) (sdk.Proposal, error) {
	return sdk.Proposal{}, errNoProposals
}

// Resolve implements server.Policy.
func (f policyFace) Resolve(context.Context, rpc.Resolve) (rpc.Resolved, error) {
	return rpc.Resolved{}, errNoProposals
}

// Rules implements server.Policy.
func (f policyFace) Rules(context.Context, string) (rpc.Rules, error) {
	return rpc.Rules{}, errNoProposals
}

// Forget implements server.Policy.
func (f policyFace) Forget(context.Context, string) (sdk.RememberedRule, error) {
	return sdk.RememberedRule{}, errNoProposals
}

// Explain implements server.Policy.
func (f policyFace) Explain(context.Context, rpc.ExplainParams) (rpc.Explained, error) {
	return rpc.Explained{}, errNoProposals
}
