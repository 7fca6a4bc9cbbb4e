package skill

import (
	"fmt"
	"slices"

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// built is a catalogue and what it was made of.
type built struct {
	catalogue *Catalogue
	from      uint64 // changes of the folders, the settings and the trust: all of them only grow
}

// build makes the catalogue of a view, unless that is made. It is called with the
// lock building.
func (l *Library) build(v *view) *built {
	l.mu.Lock()
	found, from := l.views.Base.shown, l.views.Base.changes+l.changes
	if v != l.views.Base {
		found, from = slices.Concat(v.shown, found), from+v.changes
	}
	made, settings := v.made, l.settings
	l.mu.Unlock()
	if made != nil && made.from == from {
		return made
	}
	r := ranking{settings: settings, trusted: l.o.Trusted(v.Project), winners: map[string]*Document{}}
	if settings.Offered != nil && v.Project != "" {
		r.offered = settings.Offered(v.Project)
	}
	var all []*Document
	for _, s := range found {
		for _, d := range s.docs {
			all = append(all, r.rank(d))
		}
	}
	made = &built{NewCatalogue(all), from}
	l.mu.Lock()
	v.made = made
	l.mu.Unlock()
	return made
}

// ranking gives each document its status, the one that goes first before the
// others.
type ranking struct {
	settings Settings
	offered  string               // Settings.Offered of the project
	trusted  map[string]string    // hashes of folders, by name
	winners  map[string]*Document // by name
}

func (r *ranking) rank(found *Document) *Document {
	d := *found
	d.of = found
	if d.Status, d.Reason = r.judge(found); d.Status == sdk.SkillEnabled || d.Status == sdk.SkillDisabled {
		r.winners[d.Name] = &d
	}
	return &d
}

// judge says whether a document can be used. What is broken or not trusted
// hides nothing; what is disabled keeps its name, which is off then.
func (r *ranking) judge(d *Document) (sdk.SkillStatus, string) {
	if !d.Loaded {
		if i := slices.IndexFunc(d.Diagnostics, frontmatter.IsError); i >= 0 {
			return sdk.SkillBroken, d.Diagnostics[i].Message
		}
		return sdk.SkillBroken, "its SKILL.md cannot be loaded"
	}
	if d.Tier == sdk.TierWorkspace {
		if d.sum.problem != "" {
			return sdk.SkillUntrusted, "its folder cannot be taken as a whole, so that nobody can trust it: " + d.sum.problem
		}
		if d.sum.hash == "" || d.sum.hash != r.trusted[d.Name] {
			came := "it came with the project"
			if d.Root == r.offered {
				came = "an agent found it outside the folders of skills"
			}
			return sdk.SkillUntrusted, came + ", and nobody has trusted it as it is now: see `bothy trust`"
		}
	}
	if w := r.winners[d.Name]; w != nil {
		return sdk.SkillShadowed, fmt.Sprintf("%s of the %s tier goes before it: %s", w.Name, w.Tier, w.Path)
	}
	on, why := !d.Off, "its SKILL.md says enabled: false"
	if r.settings.Enabled != nil {
		if said := r.settings.Enabled(d.Name); said != nil {
			on, why = *said, "a skill block of the configuration says so"
		}
	}
	if !on {
		return sdk.SkillDisabled, why
	}
	return sdk.SkillEnabled, ""
}

// refresh makes the catalogues anew that are in use and tells what changed.
func (l *Library) refresh() {
	l.notifying.Lock()
	defer l.notifying.Unlock()
	for _, c := range l.differences() {
		l.o.Changed(c)
	}
}

// differences compares the catalogues with those that were told of. What a catalogue
// has when it is made first is no change, and what all share is told once. Of
// folders that were not all read yet nothing is told.
func (l *Library) differences() (out []rpc.SkillsChanged) {
	l.building.Lock()
	defer l.building.Unlock()
	l.mu.Lock()
	views := slices.DeleteFunc(l.views.All(), func(v *view) bool { return v.changes == 0 || l.views.Base.changes == 0 })
	l.mu.Unlock()
	shared := map[string]bool{}
	for _, v := range views {
		old, next := v.told, l.build(v)
		v.told = next
		if old == nil || old == next {
			continue
		}
		c := difference(old.catalogue, next.catalogue, shared)
		c.Project = v.Project
		if names := slices.Concat(c.Added, c.Changed, c.Removed); len(names) > 0 {
			out = append(out, c)
			for _, name := range names {
				shared[name] = shared[name] || v == l.views.Base
			}
		}
	}
	return out
}

// difference names what is not the same in two catalogues, but for the names
// that were told.
func difference(old, next *Catalogue, told map[string]bool) (c rpc.SkillsChanged) {
	same := func(a, b *Document) bool { return a.of == b.of && a.Status == b.Status && a.Reason == b.Reason }
	for name, is := range next.named {
		was, there := old.named[name]
		switch {
		case told[name] || slices.EqualFunc(was, is, same):
		case there:
			c.Changed = append(c.Changed, name)
		default:
			c.Added = append(c.Added, name)
		}
	}
	for name := range old.named {
		if next.named[name] == nil && !told[name] {
			c.Removed = append(c.Removed, name)
		}
	}
	slices.Sort(c.Added)
	slices.Sort(c.Changed)
	slices.Sort(c.Removed)
	return c
}
