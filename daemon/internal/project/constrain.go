package project

import (
	"os"
	"path"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
	"github.com/bothyd/bothy/sdk/protect"
)

// maxConstraint is the longest pattern of a constraint, in bytes.
const maxConstraint = sdk.MaxTarget

// constraint is one that can be asked about paths.
type constraint struct {
	sdk.FileConstraint
	glob match.Glob
}

// constraints are those of a project, in the order in which they were set.
type constraints []constraint

// readConstraints makes what was set usable. A pattern that is none any more fits the path that is written so.
func readConstraints(set []sdk.FileConstraint) constraints {
	all := make(constraints, 0, len(set))
	for _, c := range set {
		glob, _ := match.ParseGlob(c.Pattern)
		all = append(all, constraint{c, glob})
	}
	return all
}

// fits reports whether a path, or a folder that it lies in, is one that is meant.
func (c constraint) fits(at string) bool {
	for ; at != "."; at = path.Dir(at) {
		if at == c.Pattern || c.glob.Match(at) {
			return true
		}
	}
	return false
}

// of is the constraint of a path; the last one that fits counts, and nil is none.
func (all constraints) of(at string) *constraint {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].fits(at) {
			return &all[i]
		}
	}
	return nil
}

// wanted reports whether a folder may hold files that were asked for, though the folder itself is left out.
func (all constraints) wanted(folder string) bool {
	for _, c := range all {
		if c.Constraint != sdk.ConstraintIgnore && c.mayBelow(folder) {
			return true
		}
	}
	return false
}

// mayBelow reports whether a path that is meant may lie below a folder.
func (c constraint) mayBelow(folder string) bool {
	fixed := c.Pattern
	if i := strings.IndexAny(fixed, `*?[{\`); i >= 0 {
		fixed = fixed[:strings.LastIndexByte(fixed[:i], '/')+1] // folders without a sign
		if fixed == "" {
			return true
		}
	}
	fixed = strings.TrimSuffix(fixed, "/")
	return fixed == folder || strings.HasPrefix(fixed, folder+"/") || strings.HasPrefix(folder, fixed+"/")
}

// cleanConstraint is a pattern as it is kept.
func cleanConstraint(pattern string) string {
	return strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/")
}

// checkConstraint says what is wrong with one that somebody wants to set, and returns its pattern as it is kept.
func checkConstraint(pattern string, to sdk.Constraint) (string, error) {
	clean := cleanConstraint(pattern)
	switch to {
	case sdk.ConstraintAdd, sdk.ConstraintReadOnly, sdk.ConstraintIgnore:
	default:
		return "", sdk.Errorf(sdk.Validation, "there is no constraint %.40q; there are add, readonly and ignore", to)
	}
	switch {
	case len(clean) > maxConstraint:
		return "", sdk.Errorf(sdk.Validation, "a pattern may have %d bytes, and this one has %d", maxConstraint, len(clean))
	case clean == "" || strings.HasPrefix(clean, "/") || strings.HasPrefix(clean, "~") || path.Clean(clean) != clean || clean == "." || clean == ".." || strings.HasPrefix(clean, "../"):
		return "", sdk.Errorf(sdk.Validation, "%.80q names no files of the project: write the pattern from the project's folder on, as vendor or src/**/*.gen.go", pattern)
	}
	if _, err := match.ParseGlob(clean); err != nil {
		return "", &sdk.Error{Outcome: sdk.Validation, Message: err.Error(), Cause: err}
	}
	if to != sdk.ConstraintIgnore && protect.Secret(clean) {
		return "", sdk.Errorf(sdk.Permission, "%s may hold secrets by its name, so it is no entry of the project", clean)
	}
	return clean, nil
}

// readOnly is the pattern by which no run may write a path; empty when none does. holds asks for what lies below the
// path too, which is removed or moved along with it.
func (all constraints) readOnly(at string, holds bool) string {
	if c := all.of(at); c != nil && c.Constraint == sdk.ConstraintReadOnly {
		return c.Pattern
	}
	if !holds {
		return ""
	}
	for _, c := range all {
		fixed := c.Pattern
		if i := strings.IndexAny(fixed, `*?[{\`); i >= 0 {
			fixed = fixed[:i]
		}
		if c.Constraint == sdk.ConstraintReadOnly && strings.HasPrefix(fixed, at+"/") {
			return c.Pattern
		}
	}
	return ""
}

// readOnlyBelow is the pattern by which no run may write a file that a folder of a project holds: one with signs, such as
// **/*.lock, says itself of no folder whether it does. What is not looked at, because it is too much, is held.
func (all constraints) readOnlyBelow(project, folder string) string {
	i := slices.IndexFunc(all, func(c constraint) bool { return c.Constraint == sdk.ConstraintReadOnly && c.mayBelow(folder) })
	if i < 0 {
		return ""
	}
	root, _, err := openFiles(project)
	if err != nil {
		return all[i].Pattern
	}
	defer func() { _ = root.Close() }() // it was only read
	dir, _, err := enter(root, folder+"/.")
	if err != nil || dir == nil {
		return "" // it holds nothing
	}
	defer leave(root, dir)
	by, whole := all.readOnlyIn(dir, folder, maxListed, new(int))
	if by == "" && !whole {
		by = all[i].Pattern
	}
	return by
}

// readOnlyIn looks for such a file; false is that there is more than so many names.
func (all constraints) readOnlyIn(dir *os.Root, at string, most int, names *int) (by string, whole bool) {
	entries, whole, err := readFolder(dir, most-*names)
	if *names += len(entries); err != nil || !whole || strings.Count(at, "/") > mostDepth {
		return "", false
	}
	for _, e := range entries {
		name := path.Join(at, e.Name())
		if by := all.readOnly(name, false); by != "" {
			return by, true
		}
		if !e.IsDir() {
			continue
		}
		sub, err := into(dir, e.Name())
		if err != nil || sub == nil {
			return "", false
		}
		by, whole := all.readOnlyIn(sub, name, most, names)
		_ = sub.Close() // it was only read
		if by != "" || !whole {
			return by, whole
		}
	}
	return "", true
}
