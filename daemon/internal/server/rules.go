package server

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func (s *Server) rules(ctx context.Context, _ *conn, p rpc.RulesParams) (rpc.Rules, error) {
	remembered, err := s.remembered(ctx, p.Project)
	return rpc.Rules{Configured: orEmpty(s.cfg.Configured(p.Project)), Remembered: orEmpty(remembered)}, err
}

// remembered are the rules that answers left in a project, or in all of them when
// it is not named.
func (s *Server) remembered(ctx context.Context, project string) ([]sdk.RememberedRule, error) {
	roots, err := s.roots(ctx, project)
	if err != nil {
		return nil, err
	}
	var all []sdk.RememberedRule
	for _, root := range roots {
		rules, err := s.cfg.Policy.Rules(ctx, root)
		if err != nil {
			return nil, err
		}
		all = append(all, rules...)
	}
	return all, nil
}

// roots are those of one project or, when it is not named, of all that are
// known. One that is not known has no rules.
func (s *Server) roots(ctx context.Context, project string) ([]string, error) {
	if project != "" {
		p, known, err := s.project(ctx, project)
		if err != nil || !known {
			return nil, err
		}
		return []string{p.Root}, nil
	}
	all, err := s.cfg.Store.Projects(ctx)
	var roots []string
	for _, p := range all {
		roots = append(roots, p.Root)
	}
	return roots, err
}

// forgetRule forgets a rule by its id or a beginning of it that is unique.
func (s *Server) forgetRule(ctx context.Context, _ *conn, p rpc.RuleRef) (sdk.RememberedRule, error) {
	rules, err := s.remembered(ctx, p.Project)
	if err != nil {
		return sdk.RememberedRule{}, err
	}
	found := named(rules, p.ID, func(r sdk.RememberedRule) string { return r.ID })
	switch len(found) {
	case 0:
		return sdk.RememberedRule{}, sdk.Errorf(sdk.NotFound, "no rule %q is remembered; `bothy policy rules` shows what is", p.ID)
	case 1:
		return s.cfg.Policy.Forget(ctx, found[0].Project, found[0].ID)
	default:
		return sdk.RememberedRule{}, sdk.Errorf(sdk.Conflict, "%s may be the rule %s of %s or %s of %s; write the whole id, and name the project",
			p.ID, found[0].ID, found[0].Project, found[1].ID, found[1].Project)
	}
}
