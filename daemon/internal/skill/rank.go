package skill

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/bothyd/bothy/sdk"
)

// making is a catalogue and what it was made of.
type making struct {
	catalogue *Catalogue
	base      uint64 // version of what all share
	own       uint64 // version of the workspace
	turned    uint64
	ranked    map[*Document]*Document // as found, as it counts
}

// make returns a project's catalogue as it is now.
func (l *Library) make(project string) *making {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.makeLocked(project)
}

func (l *Library) makeLocked(project string) *making {
	base, version := l.base.sight()
	next := &making{base: version, turned: l.turned, ranked: map[*Document]*Document{}}
	var own []shown
	if w, ok := l.projects[project]; ok {
		own, next.own = w.vigil.sight()
	}
	old := l.made[project]
	if old != nil && old.base == next.base && old.own == next.own && old.turned == next.turned {
		return old
	}
	r := ranking{l: l, project: project, winners: map[string]*Document{}, out: next.ranked}
	if r.before = old; project != "" {
		r.shared = l.makeLocked("")
	}
	var all []*Document
	for _, s := range slices.Concat(own, base) {
		for _, d := range s.docs {
			all = append(all, r.rank(d))
		}
	}
	next.catalogue = NewCatalogue(all)
	l.made[project] = next
	return next
}

// ranking gives each document its status, the one that goes first before the
// others.
type ranking struct {
	l       *Library
	project string
	winners map[string]*Document // by sameName
	before  *making              // documents that did not change are taken from these
	shared  *making
	out     map[*Document]*Document
}

func (r *ranking) rank(found *Document) *Document {
	status, reason := r.judge(found)
	d := r.same(found, status, reason)
	if d == nil {
		c := *found
		c.Name, c.Status, c.Reason = norm.NFC.String(found.Name), status, reason
		d = &c
	}
	r.out[found] = d
	if status == sdk.SkillEnabled || status == sdk.SkillDisabled {
		r.winners[sameName(d.Name)] = d
	}
	return d
}

func (r *ranking) same(found *Document, status sdk.SkillStatus, reason string) *Document {
	for _, m := range []*making{r.shared, r.before} {
		if m == nil {
			continue
		}
		if d := m.ranked[found]; d != nil && d.Status == status && d.Reason == reason {
			return d
		}
	}
	return nil
}

// judge says whether a document can be used. What is broken or not trusted
// hides nothing; what is disabled keeps its name, which is off then.
func (r *ranking) judge(d *Document) (sdk.SkillStatus, string) {
	if !d.Loaded {
		return sdk.SkillBroken, trouble(d)
	}
	if d.Tier == sdk.TierWorkspace {
		if why := r.distrust(d); why != "" {
			return sdk.SkillUntrusted, why
		}
	}
	if w := r.winners[sameName(d.Name)]; w != nil {
		return sdk.SkillShadowed, fmt.Sprintf("%s of the %s tier goes before it: %s", w.Name, w.Tier, w.Path)
	}
	if r.l.settings.Enabled != nil {
		if on := r.l.settings.Enabled(d.Name); on != nil && *on {
			return sdk.SkillEnabled, ""
		} else if on != nil {
			return sdk.SkillDisabled, "a skill block of the configuration says so"
		}
	}
	if d.Off {
		return sdk.SkillDisabled, "its SKILL.md says enabled: false"
	}
	return sdk.SkillEnabled, ""
}

// trouble is what keeps a document from being loaded.
func trouble(d *Document) string {
	for _, x := range d.Diagnostics {
		if x.Severity == "error" {
			return x.Message
		}
	}
	return "its SKILL.md cannot be loaded"
}

// distrust says why a skill of the workspace is inert, empty if it is not.
func (r *ranking) distrust(d *Document) string {
	o := r.l.o
	if o.Trusted == nil || o.Hash == nil {
		return "skills of a workspace cannot be trusted here"
	}
	hash, err := o.Hash(d.Folder)
	if err != nil {
		return fmt.Sprintf("its folder cannot be read whole, so that nothing is known to be trusted: %v", err)
	}
	if !o.Trusted(r.project, d.Name, hash) {
		return "it came with the project, and nobody has trusted it as it is now: see `bothy trust`"
	}
	return ""
}

// sameName is equal for names that people take for the same: case and the way
// in which accents are written do not tell two skills apart.
func sameName(name string) string { return strings.ToLower(norm.NFC.String(name)) }

// refresh makes the catalogues anew that are in use and tells what changed.
func (l *Library) refresh() {
	l.telling.Lock()
	defer l.telling.Unlock()
	for _, c := range l.changes() {
		l.o.Changed(c)
	}
}

// changes compares the catalogues with those that were told of. What a catalogue
// has when it is made first is no change.
func (l *Library) changes() []Change {
	if l.o.Changed == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Change
	shared := map[string]bool{}
	for _, project := range append([]string{""}, slices.Sorted(maps.Keys(l.projects))...) {
		if !l.ready(project) {
			continue
		}
		next := l.makeLocked(project)
		old := l.told[project]
		l.told[project] = next
		if old == nil || old == next {
			continue
		}
		c := difference(old.catalogue, next.catalogue, shared)
		if c.Project = project; len(c.Added)+len(c.Changed)+len(c.Removed) == 0 {
			continue
		}
		if out = append(out, c); project == "" {
			for _, name := range slices.Concat(c.Added, c.Changed, c.Removed) {
				shared[name] = true
			}
		}
	}
	return out
}

// ready reports whether all that a project's catalogue is made of was looked
// at once.
func (l *Library) ready(project string) bool {
	_, base := l.base.sight()
	if project == "" {
		return base > 0
	}
	_, own := l.projects[project].vigil.sight()
	return base > 0 && own > 0
}

// difference names what is not the same in two catalogues, but for the names
// that were told.
func difference(old, next *Catalogue, told map[string]bool) Change {
	var c Change
	before, after := byName(old), byName(next)
	for _, name := range slices.Sorted(maps.Keys(after)) {
		was, known := before[name]
		switch {
		case told[name]:
		case !known:
			c.Added = append(c.Added, name)
		case !slices.Equal(was, after[name]):
			c.Changed = append(c.Changed, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, still := after[name]; !still && !told[name] {
			c.Removed = append(c.Removed, name)
		}
	}
	return c
}

func byName(c *Catalogue) map[string][]*Document {
	out := map[string][]*Document{}
	for _, d := range c.all {
		out[d.Name] = append(out[d.Name], d)
	}
	return out
}
