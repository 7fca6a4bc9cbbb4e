package project

import (
	"context"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Manifest is the list of a project's files, a line for each; empty when it has none.
func (t *Tree) Manifest(ctx context.Context, p sdk.Project) (string, error) {
	all, err := t.kept.ProjectFiles(ctx, p.ID)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, f := range all {
		if b.Len() > mostManifest {
			fmt.Fprintf(&b, "* ... and %d more\n", len(all)-i)
			break
		}
		fmt.Fprintf(&b, "* %s - %d tokens\n", f.Path, f.Tokens)
	}
	return b.String(), nil
}

// Tree are the entries of a project's files whose paths a pattern fits, by path; all when it is empty.
func (t *Tree) Tree(ctx context.Context, p sdk.Project, pattern string) ([]rpc.TreeFile, error) {
	wanted, err := match.Parse(pattern)
	if err != nil {
		return nil, err
	}
	files, err := t.kept.ProjectFiles(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	set, err := t.kept.Constraints(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	rules := readConstraints(set)
	var all []rpc.TreeFile
	for _, f := range files {
		if pattern != "" {
			fits, err := wanted.Match(f.Path)
			if err != nil {
				return nil, err
			}
			if !fits {
				continue
			}
		}
		one := rpc.TreeFile{ProjectFile: f}
		if c := rules.of(f.Path); c != nil {
			one.Constraint = c.Constraint
		}
		all = append(all, one)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Constrain sets a constraint of a project, or takes it away where it is empty, and makes the entries what they are then.
func (t *Tree) Constrain(ctx context.Context, p sdk.Project, pattern string, to sdk.Constraint) (sdk.Scanned, error) {
	if to == "" {
		pattern = cleanConstraint(pattern)
	} else {
		var err error
		if pattern, err = checkConstraint(pattern, to); err != nil {
			return sdk.Scanned{}, err
		}
	}
	if err := t.kept.Constrain(ctx, p.ID, pattern, to); err != nil {
		return sdk.Scanned{}, err
	}
	return t.Scan(ctx, p)
}

// Constraints are those of a project, in the order in which they were set.
func (t *Tree) Constraints(ctx context.Context, p sdk.Project) ([]sdk.FileConstraint, error) {
	return t.kept.Constraints(ctx, p.ID)
}

// ReadOnly says by which pattern no run may write a path of a project, or, with holds, something below it; empty is by none.
func (t *Tree) ReadOnly(project string) func(at string, holds bool) string {
	set, err := t.kept.ConstraintsAt(context.Background(), project)
	if err != nil {
		return func(string, bool) string { return "(the constraints cannot be read)" }
	}
	if len(set) == 0 {
		return nil
	}
	rules := readConstraints(set)
	return func(at string, holds bool) string {
		by := rules.readOnly(at, holds)
		if by == "" && holds {
			by = rules.readOnlyBelow(project, at)
		}
		return by
	}
}
