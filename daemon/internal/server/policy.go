package server

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Policy answers for what waits for a person, and for the rules about it.
type Policy interface {
	Proposals(ctx context.Context, p rpc.ProposalsParams) (rpc.Proposals, error)
	Proposal(ctx context.Context, id string) (sdk.Proposal, error)
	Resolve(ctx context.Context, p rpc.Resolve) (rpc.Resolved, error)
	Rules(ctx context.Context, project string) (rpc.Rules, error)
	Forget(ctx context.Context, p rpc.RuleRef) (sdk.RememberedRule, error)
	Explain(ctx context.Context, p rpc.ExplainParams) (rpc.Explained, error)
}

func (s *Server) proposals(ctx context.Context, _ *conn, p rpc.ProposalsParams) (rpc.Proposals, error) {
	found, err := s.cfg.Policy.Proposals(ctx, p)
	found.Proposals = orEmpty(found.Proposals)
	return found, err
}

func (s *Server) proposal(ctx context.Context, _ *conn, p rpc.ProposalRef) (sdk.Proposal, error) {
	return s.cfg.Policy.Proposal(ctx, p.ID)
}

func (s *Server) resolve(ctx context.Context, _ *conn, p rpc.Resolve) (rpc.Resolved, error) {
	return s.cfg.Policy.Resolve(ctx, p)
}

func (s *Server) rules(ctx context.Context, _ *conn, p rpc.RulesParams) (rpc.Rules, error) {
	found, err := s.cfg.Policy.Rules(ctx, p.Project)
	found.Configured, found.Remembered = orEmpty(found.Configured), orEmpty(found.Remembered)
	return found, err
}

func (s *Server) forgetRule(ctx context.Context, _ *conn, p rpc.RuleRef) (sdk.RememberedRule, error) {
	return s.cfg.Policy.Forget(ctx, p)
}

func (s *Server) explain(ctx context.Context, _ *conn, p rpc.ExplainParams) (rpc.Explained, error) {
	return s.cfg.Policy.Explain(ctx, p)
}
