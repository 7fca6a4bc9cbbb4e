package builtin

import (
	"maps"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// find is what the run has at a path, as it is stored or planned.
func (p *plan) find(path string) (*sight, error) {
	x := p.now[path]
	if x != nil && (x.bodied || !x.there) {
		return x, nil
	}
	scheme, _ := p.stored.Scheme(sdk.SchemeOf(path))
	found, err := p.stored.Entries(p.ctx, sdk.EntryQuery{Run: p.use.Run.ID, Path: path, Shared: scheme.Scope != "run"})
	if sdk.OutcomeOf(err) == sdk.Validation { // a pattern need be no path
		if pattern, _ := p.pattern(path); pattern != nil {
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	switch {
	case x != nil && len(found) > 0: // what was listed without its body
		x.Body, x.bodied = found[0].Body, true
	case x == nil && len(found) > 0:
		x = &sight{Entry: found[0], there: true, bodied: true}
	case x == nil:
		x = &sight{Entry: sdk.Entry{Path: path}}
	}
	p.now[path] = x
	return x, nil
}

// many is from how many on entries are read together.
const many = 32

// matches are the entries that a pattern finds, by path: none of the audit, no files, none out of the
// caller's reach.
func (p *plan) matches(pattern Pattern, filter string, bodies bool) ([]*sight, error) {
	bodies = bodies || filter != ""
	paths, err := p.fitting(pattern)
	if err != nil {
		return nil, err
	}
	if err := p.load(paths, bodies); err != nil {
		return nil, err
	}
	var all []*sight
	for _, path := range paths {
		x := p.now[path]
		if x == nil || bodies && !x.bodied {
			if x, err = p.find(path); err != nil {
				return nil, err
			}
		}
		if x.there {
			all = append(all, x)
		}
	}
	return p.filtered(all, filter)
}

// filtered are those of a list whose body has what a pattern says.
func (p *plan) filtered(all []*sight, filter string) ([]*sight, error) {
	if filter == "" {
		return all, nil
	}
	pattern, _, err := p.parse(filter)
	if err != nil {
		return nil, err
	}
	var some []*sight
	for _, x := range all {
		if err := p.ctx.Err(); err != nil {
			return nil, err
		}
		has, err := pattern.Search(x.Body)
		if err != nil {
			return nil, err
		}
		if has {
			some = append(some, x)
		}
	}
	return some, nil
}

// pattern reads a path as a pattern; nil where it is its own text and nothing more.
func (p *plan) pattern(path string) (Pattern, error) {
	pattern, plain, err := p.parse(path)
	if plain || err != nil {
		return nil, err
	}
	return pattern, nil
}

// fitting are the paths that fit, of what is stored and planned, in order.
func (p *plan) fitting(pattern Pattern) ([]string, error) {
	if p.paths == nil {
		var err error
		if p.paths, err = p.stored.Paths(p.ctx, p.use.Run.ID); err != nil {
			return nil, err
		}
	}
	var found []string
	for _, path := range slices.Concat(p.paths, slices.Collect(maps.Keys(p.now))) {
		if !p.findable(path) {
			continue
		}
		fits, err := pattern.Match(path)
		if err != nil {
			return nil, err
		}
		if fits {
			found = append(found, path)
		}
		if err := p.ctx.Err(); err != nil {
			return nil, err
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

func (p *plan) findable(path string) bool {
	name := sdk.SchemeOf(path)
	scheme, known := p.stored.Scheme(name)
	return known && name != "file" && scheme.Category != sdk.CategoryAudit && (p.use.Within == nil || p.use.Within(path))
}

// load reads what is missing of some paths, together where it is much.
func (p *plan) load(paths []string, bodies bool) error {
	missing := 0
	for _, path := range paths {
		if x := p.now[path]; x == nil || bodies && x.there && !x.bodied {
			missing++
		}
	}
	if missing < many {
		return nil // one by one
	}
	all, err := p.stored.Entries(p.ctx, sdk.EntryQuery{Run: p.use.Run.ID, Shared: true, Brief: !bodies})
	if err != nil {
		return err
	}
	for _, e := range all {
		if _, wanted := slices.BinarySearch(paths, e.Path); !wanted {
			continue
		}
		switch x := p.now[e.Path]; {
		case x == nil:
			p.now[e.Path] = &sight{Entry: e, there: true, bodied: bodies}
		case bodies && x.there && !x.bodied:
			x.Body, x.bodied = e.Body, true
		}
	}
	return nil
}
