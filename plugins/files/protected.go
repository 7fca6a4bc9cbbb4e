package main

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/protect"
)

// protection knows the paths of one project that are not free as they are now: by
// name, by where links lead them, and by what they are on disk.
type protection struct {
	rules   protect.Rules
	guarded []guarded
	has     func(at string) bool
	agreed  bool          // a person agreed to the call, or is only shown it
	named   protect.Class // of the path as the call names it: policy has seen that
	held    []string      // paths that a command changed and a person has not agreed to
	given   given         // what the run may change
	whole   bool          // what is in a folder goes with it
}

// guarded is a path that is not free, with what its links lead to.
type guarded struct {
	protect.Finding
	links []string // on the way to it
	info  fs.FileInfo
}

// protection looks at the paths that are not free, and at what the repositories
// around a path name in their configuration. A project without them has them all
// the same: they cannot be created either.
func (p *project) protection(around string) (*protection, error) {
	own, holder := p.rules.Own(p.dir)
	if holder != "" {
		return nil, sdk.Errorf(sdk.Permission, "the project lies in %s, which is Bothy's own and protected: nothing in it can be changed", shown(holder))
	}
	g := &protection{rules: p.rules, agreed: p.base != "" || p.staging, held: p.held, given: p.given}
	g.has = func(at string) bool {
		_, err := p.root.Lstat(at)
		return err == nil
	}
	found := p.rules.Obeyed(p.dir, ways(around))
	seen := p.rules // as policy has seen the project
	seen.Found = p.rules.Obeyed(p.dir, []string{"."})
	g.named = seen.Name(around).Class
	for _, at := range own {
		found = append(found, protect.Finding{Class: protect.Refused, Reason: "it is Bothy's own", Name: at})
	}
	for _, f := range slices.Concat(protect.Names(), gitNames()) {
		if p.rules.Name(f.Name).Class < f.Class {
			continue // the configuration frees it
		}
		if g.has(path.Dir(f.Name)) {
			found = append(found, f)
		}
	}
	for _, f := range found {
		if err := g.guard(p, f); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// gitNames are the project's repository, and what git obeys in it.
func gitNames() []protect.Finding {
	names := []protect.Finding{protect.Rules{}.Name(".git")}
	for _, name := range protect.GitNames() {
		names = append(names, protect.Rules{}.Name(path.Join(".git", name)))
	}
	return names
}

// guard adds a path, as it is named and as links lead it.
func (g *protection) guard(p *project, f protect.Finding) error {
	g.guarded = append(g.guarded, guarded{Finding: f})
	pl, err := p.resolve(f.Name, lookup{})
	if err != nil {
		if sdk.OutcomeOf(err) == sdk.Internal {
			return err
		}
		return nil // it leads nowhere that a tool could reach
	}
	defer pl.close()
	f.Name = pl.path
	g.guarded = append(g.guarded, guarded{f, pl.links, pl.info})
	return nil
}

// ways are the folders on the way to a path, the project first, and the path.
func ways(to string) []string {
	found, at := []string{"."}, "."
	for part := range strings.SplitSeq(strings.Trim(path.Clean("/"+to), "/"), "/") {
		at = path.Join(at, part)
		found = append(found, at)
	}
	return found
}

// check refuses to change a place: one that is refused, lies in what is, or holds
// it, since a folder that is moved takes its contents along. What is asked passes
// when a person agreed to the call, and when its own name says so: then policy
// has decided about it. What a command changed and waits for an answer is a
// conflict.
func (g *protection) check(pl *place) error {
	f, through := g.find(pl)
	switch {
	case f.Class == protect.Free, f.Holds && pl.info == nil,
		f.Class == protect.Asked && (g.agreed || g.named >= protect.Asked):
		return checkHeld(g.held, pl.path, g.whole)
	case f.Class == protect.Asked:
		return sdk.Errorf(sdk.Permission, "%s is protected: a person has to agree to a change of %s, because %s; name that path itself, or ask the person", shown(pl.path), shown(f.Name), f.Reason)
	case through:
		return sdk.Errorf(sdk.Permission, "%s leads to a protected path through a symbolic link, so it cannot be changed; ask the person to do it", shown(pl.path))
	case f.Holds:
		return sdk.Errorf(sdk.Permission, "%s holds the protected path %s, so it can be neither replaced, moved nor deleted; ask the person to do it", shown(pl.path), shown(f.Name))
	}
	return refused(pl.path, f)
}

// find is what is known of a place, and whether it is a link on the way to what
// is not free.
func (g *protection) find(pl *place) (worst protect.Finding, through bool) {
	take := func(f protect.Finding, link bool) {
		if f.Class > worst.Class {
			worst, through = f, link
		}
	}
	if f := g.rules.Name(pl.path); !f.Holds || g.has(f.Name) {
		take(f, false)
	}
	take(g.becoming(pl), false)
	for _, x := range g.guarded {
		f := x.Finding
		same := func(info fs.FileInfo) bool { return x.info != nil && os.SameFile(x.info, info) }
		switch {
		case protect.Within(pl.path, f.Name), pl.info != nil && same(pl.info), slices.ContainsFunc(pl.above, same):
			take(f, false)
		case protect.Within(f.Name, pl.path):
			f.Holds = true
			take(f, false)
		case slices.ContainsFunc(x.links, func(link string) bool { return protect.Within(link, pl.path) }):
			take(f, true)
		}
	}
	return worst, through
}

// becoming is about what git obeys because a folder is a repository under a name
// of its own, or what would make it one.
func (g *protection) becoming(pl *place) protect.Finding {
	parts := strings.Split(pl.path, "/")
	for i := range min(len(parts), len(pl.stack)) {
		there := func(entry string) bool {
			_, err := pl.stack[i].root.Lstat(entry)
			return err == nil
		}
		folder := path.Join(".", path.Join(parts[:i]...))
		switch name := parts[i]; {
		case there("HEAD") && g.rules.IsRepository(there):
			if f := g.rules.Name(".git/" + strings.Join(parts[i:], "/")); f.Reason != protect.GitsOwn {
				f.Name = strings.TrimPrefix(path.Join(folder, strings.TrimPrefix(f.Name, ".git")), "./")
				return f
			}
		case slices.Contains([]string{"HEAD", "objects", "refs", "commondir"}, name) && !there(name) && g.rules.IsRepository(func(entry string) bool { return entry == name || there(entry) }):
			return protect.Finding{Class: protect.Refused, Reason: "with it git takes " + shown(folder) + " for a repository and obeys what is in it", Name: path.Join(folder, name)}
		}
	}
	return protect.Finding{}
}

func refused(at string, f protect.Finding) error {
	return sdk.Errorf(sdk.Permission, "%s is protected: no tool may change %s, because %s; ask the person to do it", shown(at), shown(f.Name), f.Reason)
}

// checkName is the part of check that needs no look at the project.
func (p *project) checkName(at string) error {
	if f := p.rules.Name(at); f.Class == protect.Refused && !f.Holds {
		return refused(at, f)
	}
	return nil
}

// readable refuses to read credentials under another name, and lets go of the
// place then: policy asks about the name that it sees, and a link may have come
// since.
func (pl *place) readable(name string) error {
	if protect.Secret(pl.path) && !protect.Secret(name) {
		pl.close()
		return sdk.Errorf(sdk.Permission, "%s leads to %s, where credentials are kept, and a person has to agree that they are read; name that path itself", shown(name), shown(pl.path))
	}
	return nil
}
