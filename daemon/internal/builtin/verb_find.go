package builtin

import (
	"maps"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// find is what the run has at a path, as it is stored or planned.
func (p *plan) find(path string) (*sight, error) { return p.see(path, true) }

// see is find, with or without the body.
func (p *plan) see(path string, body bool) (*sight, error) {
	x := p.now[path]
	if x != nil && (x.bodied || !x.there || !body) {
		return x, nil
	}
	scheme, _ := p.stored.Scheme(sdk.SchemeOf(path))
	found, err := p.stored.Entries(p.ctx, sdk.EntryQuery{Run: p.use.Run.ID, Path: path, Shared: scheme.Scope != "run", Brief: !body})
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
		if !x.planned {
			x.Attributes = found[0].Attributes // those too that refer to another entry
		}
		x.Body, x.bodied, x.added = found[0].Body+x.added, true, ""
	case x == nil && len(found) > 0:
		x = &sight{Entry: found[0], there: true, bodied: body}
	case x == nil:
		x = &sight{Entry: sdk.Entry{Path: path}}
	}
	p.now[path] = x
	return x, nil
}

// many is from how many on entries are read together.
const many = 32

// matches are the entries that a pattern finds, by path: none of the audit, none out of the
// caller's reach. Their bodies are not read.
func (p *plan) matches(pattern Pattern, filter string) ([]*sight, error) {
	paths, err := p.fitting(pattern)
	if err != nil {
		return nil, err
	}
	if err := p.load(paths); err != nil {
		return nil, err
	}
	var all []*sight
	for _, path := range paths {
		x, err := p.see(path, false)
		if err != nil {
			return nil, err
		}
		if x.there {
			all = append(all, x)
		}
	}
	return p.filtered(all, filter)
}

// filtered are those of a list, which is by path, whose body has what a pattern says. Bodies are read one after
// the other, and are not kept.
func (p *plan) filtered(all []*sight, filter string) ([]*sight, error) {
	if filter == "" {
		return all, nil
	}
	pattern, _, err := p.parse(filter)
	if err != nil {
		return nil, err
	}
	has := make(map[string]bool, len(all))
	look := func(path, body string) (err error) {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		has[path], err = pattern.Search(body)
		return err
	}
	var unread []string
	for _, x := range all {
		is, err := p.searchable(x)
		switch {
		case err != nil:
			return nil, err
		case !is:
			continue
		case !x.bodied:
			unread = append(unread, x.Path)
			continue
		}
		if err := look(x.Path, x.Body); err != nil {
			return nil, err
		}
	}
	err = p.stored.Bodies(p.ctx, p.use.Run.ID, unread, func(path, body string) error { return look(path, body+p.now[path].added) })
	return slices.DeleteFunc(all, func(x *sight) bool { return !has[x.Path] }), err
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
	return known && (name != fileScheme || p.hasFiles()) && scheme.Category != sdk.CategoryAudit && !p.keptFrom(scheme) && (p.use.Within == nil || p.use.Within(path))
}

// load lists what is missing of some paths, together where it is much.
func (p *plan) load(paths []string) error {
	missing := 0
	for _, path := range paths {
		if p.now[path] == nil {
			missing++
		}
	}
	if missing < many {
		return nil // one by one
	}
	all, err := p.stored.Entries(p.ctx, sdk.EntryQuery{Run: p.use.Run.ID, Shared: true, Brief: true})
	if err != nil {
		return err
	}
	for _, e := range all {
		if _, wanted := slices.BinarySearch(paths, e.Path); wanted && p.now[e.Path] == nil {
			p.now[e.Path] = &sight{Entry: e, there: true}
		}
	}
	return nil
}
