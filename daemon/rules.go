package daemon

import (
	"context"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Rules implements server.Policy. Without a project those of all are shown.
func (f policyFace) Rules(ctx context.Context, project string) (rpc.Rules, error) {
	out := rpc.Rules{Configured: f.d.policy.Configured(project)}
	roots, err := f.roots(ctx, project)
	if err != nil {
		return out, err
	}
	for _, root := range roots {
		rules, err := f.d.engine.Rules(ctx, root)
		if err != nil {
			return out, err
		}
		out.Remembered = append(out.Remembered, rules...)
	}
	return out, nil
}

// roots are those of one project or, when it is not named, of all that are
// known. One that is not known has no rules.
func (f policyFace) roots(ctx context.Context, project string) ([]string, error) {
	if project != "" {
		p, err := f.project(ctx, project)
		if sdk.OutcomeOf(err) == sdk.NotFound && err != nil {
			return nil, nil
		}
		return []string{p.Root}, err
	}
	all, err := f.d.store.Projects(ctx)
	var roots []string
	for _, p := range all {
		roots = append(roots, p.Root)
	}
	return roots, err
}

// Forget implements server.Policy: by the id or a beginning of it that is
// unique.
func (f policyFace) Forget(ctx context.Context, p rpc.RuleRef) (sdk.RememberedRule, error) {
	if err := relay(f).intake(); err != nil {
		return sdk.RememberedRule{}, err
	}
	rules, err := f.Rules(ctx, p.Project)
	if err != nil {
		return sdk.RememberedRule{}, err
	}
	var whole, begun []sdk.RememberedRule
	for _, r := range rules.Remembered {
		switch {
		case r.ID == p.ID:
			whole = append(whole, r)
		case p.ID != "" && strings.HasPrefix(r.ID, p.ID):
			begun = append(begun, r)
		}
	}
	found := whole
	if len(found) == 0 {
		found = begun
	}
	switch len(found) {
	case 0:
		return sdk.RememberedRule{}, sdk.Errorf(sdk.NotFound, "no rule %q is remembered; `bothy policy rules` shows what is", p.ID)
	case 1:
		return f.d.engine.Forget(ctx, found[0].Project, found[0].ID)
	default:
		return sdk.RememberedRule{}, sdk.Errorf(sdk.Conflict, "%s may be the rule %s of %s or %s of %s; write the whole id, and name the project",
			p.ID, found[0].ID, found[0].Project, found[1].ID, found[1].Project)
	}
}
