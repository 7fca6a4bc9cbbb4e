package skill

import (
	"fmt"
	"maps"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// builtCatalogue is a catalogue and what it was made of.
type builtCatalogue struct {
	catalogue *Catalogue
	base      uint64                  // version of what all share
	own       uint64                  // version of the workspace
	settings  uint64                  // version of the settings and the trust
	ranked    map[*Document]*Document // as found, as it counts
}

// build returns a project's catalogue as it is now.
func (l *Library) build(project string) *builtCatalogue {
	l.building.Lock()
	defer l.building.Unlock()
	return l.buildOne(project)
}

// buildOne is called with the lock building.
func (l *Library) buildOne(project string) *builtCatalogue {
	next := &builtCatalogue{ranked: map[*Document]*Document{}}
	l.mu.Lock()
	old, settings, w := l.made[project], l.settings, l.projects[project]
	next.settings = l.settingsVersion
	l.mu.Unlock()
	var base, own []snapshot
	base, next.base = l.base.snapshots()
	if w != nil {
		own, next.own = w.watcher.snapshots()
	}
	if old != nil && old.base == next.base && old.own == next.own && old.settings == next.settings {
		return old
	}
	r := ranking{project: project, settings: settings, trusted: l.o.Trusted, winners: map[string]*Document{}, out: next.ranked}
	if r.before = old; project != "" {
		r.shared = l.buildOne("")
	}
	var all []*Document
	for _, s := range slices.Concat(own, base) {
		for _, d := range s.docs {
			all = append(all, r.rank(d, s.sums[d]))
		}
	}
	next.catalogue = NewCatalogue(all)
	l.mu.Lock()
	if project == "" || l.projects[project] == w {
		l.made[project] = next
	}
	l.mu.Unlock()
	return next
}

// ranking gives each document its status, the one that goes first before the
// others.
type ranking struct {
	project  string
	settings Settings
	trusted  func(project, name, folderHash string) bool
	winners  map[string]*Document // by name
	before   *builtCatalogue      // documents that did not change are taken from these
	shared   *builtCatalogue
	out      map[*Document]*Document
}

func (r *ranking) rank(found *Document, sum folderSum) *Document {
	status, reason := r.judge(found, sum)
	d := r.same(found, status, reason)
	if d == nil {
		c := *found
		c.Status, c.Reason = status, reason
		d = &c
	}
	r.out[found] = d
	if status == sdk.SkillEnabled || status == sdk.SkillDisabled {
		r.winners[d.Name] = d
	}
	return d
}

func (r *ranking) same(found *Document, status sdk.SkillStatus, reason string) *Document {
	for _, m := range []*builtCatalogue{r.shared, r.before} {
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
func (r *ranking) judge(d *Document, sum folderSum) (sdk.SkillStatus, string) {
	if !d.Loaded {
		return sdk.SkillBroken, trouble(d)
	}
	if d.Tier == sdk.TierWorkspace {
		if why := r.distrust(d, sum); why != "" {
			return sdk.SkillUntrusted, why
		}
	}
	if w := r.winners[d.Name]; w != nil {
		return sdk.SkillShadowed, fmt.Sprintf("%s of the %s tier goes before it: %s", w.Name, w.Tier, w.Path)
	}
	if r.settings.Enabled != nil {
		if on := r.settings.Enabled(d.Name); on != nil && *on {
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
func (r *ranking) distrust(d *Document, sum folderSum) string {
	if sum.err != nil {
		return fmt.Sprintf("its folder cannot be taken as a whole, so that nobody can trust it: %v", sum.err)
	}
	if sum.hash == "" || r.trusted == nil || !r.trusted(r.project, d.Name, sum.hash) {
		return "it came with the project, and nobody has trusted it as it is now: see `bothy trust`"
	}
	return ""
}

// refresh makes the catalogues anew that are in use and tells what changed.
func (l *Library) refresh() {
	l.notifying.Lock()
	defer l.notifying.Unlock()
	for _, c := range l.changes() {
		if l.changed != nil {
			l.changed(c)
		}
	}
}

// changes compares the catalogues with those that were told of. What a catalogue
// has when it is made first is no change.
func (l *Library) changes() []Change {
	l.building.Lock()
	defer l.building.Unlock()
	var out []Change
	shared := map[string]bool{}
	for _, project := range l.ready() {
		next := l.buildOne(project)
		l.mu.Lock()
		old := l.notified[project]
		l.notified[project] = next
		l.mu.Unlock()
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

// ready are the projects in use whose folders were all read once,
// after the one that they share.
func (l *Library) ready() []string {
	if _, base := l.base.snapshots(); base == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	out := []string{""}
	for _, project := range slices.Sorted(maps.Keys(l.projects)) {
		if _, own := l.projects[project].watcher.snapshots(); own > 0 {
			out = append(out, project)
		}
	}
	return out
}

// difference names what is not the same in two catalogues, but for the names
// that were told. Both are in the order of the names.
func difference(old, next *Catalogue, told map[string]bool) Change {
	var c Change
	for was, is := old.all, next.all; len(was)+len(is) > 0; {
		name := firstName(was, is)
		before, after := leading(was, name), leading(is, name)
		was, is = was[len(before):], is[len(after):]
		switch {
		case told[name] || slices.Equal(before, after):
		case len(before) == 0:
			c.Added = append(c.Added, name)
		case len(after) == 0:
			c.Removed = append(c.Removed, name)
		default:
			c.Changed = append(c.Changed, name)
		}
	}
	return c
}

// firstName is the lower of the first names; one of the lists is not empty.
func firstName(a, b []*Document) string {
	if len(a) == 0 || len(b) > 0 && b[0].Name < a[0].Name {
		return b[0].Name
	}
	return a[0].Name
}

// leading are the documents of a name with which a list begins.
func leading(list []*Document, name string) []*Document {
	n := 0
	for n < len(list) && list[n].Name == name {
		n++
	}
	return list[:n]
}
