package skill

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
	"github.com/bothyd/bothy/daemon/internal/places"
	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// folderIndex is the skills of one Folder. A scan parses only the files that
// changed since the scan before.
type folderIndex struct {
	at      Folder
	entries map[string]*entry // by folder as found
	now     snapshot
	had     watch.Identity // of the folder, when it had skills last
}

// snapshot is what a folder held at one moment. It never changes.
type snapshot struct {
	state rpc.SkillFolder
	docs  []*Document // by folder
}

// watchingPolling is rpc.SkillFolder.Watching where changes make no events.
const watchingPolling = "polling"

// scan brings the index up to what is on disk; trusted are hashes of folders by name.
// It reports whether something may be half done: then nothing of the index should be
// shown before another scan, unless it is the last one of its pass, which takes what
// can be loaded.
func (x *folderIndex) scan(pass *watch.Pass, o *Options, trusted map[string]string) (unstable bool) {
	sc := &scan{at: x.at, pass: pass}
	sc.run()
	defer sc.roots.Close()
	next := make(map[string]*entry, len(sc.found))
	var todo []*reading
	for _, f := range sc.found {
		e := x.entries[f.folder]
		if e == nil {
			e = &entry{}
		}
		next[f.folder] = e
		if f.trouble != nil || e.key != f.key || !e.sure || e.doc == nil {
			t := &reading{finding: f, entry: e, moving: f.trouble == nil && e.key != f.key && f.key.Moving(o.times.Now(), o.times.Settle)}
			unstable = unstable || t.moving
			todo = append(todo, t)
		}
	}
	if x.vanished(sc, o, next) {
		unstable = true
	}
	if unstable && !pass.Last {
		return true
	}
	onAllProcessors(len(todo), func(i int) { todo[i].read(sc.roots) })
	for _, t := range todo {
		whole := t.after == t.key // else it changed while it was read
		switch {
		case !whole && !pass.Last:
			unstable = true
		case t.moving && (!whole || t.doc != nil && !t.doc.Loaded):
			// It never settles, and is in the middle of something.
		default:
			t.entry.take(x.at, t, o.times.Now())
		}
	}
	x.entries = next
	if x.at.Tier == sdk.TierWorkspace {
		x.sum(sc, o.hash, trusted)
	}
	x.show(sc, o.remote)
	return unstable
}

// onAllProcessors calls do for each number below n.
func onAllProcessors(n int, do func(i int)) {
	var wg sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), n)
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				do(i)
			}
		})
	}
	wg.Wait()
}

// vanished keeps in next what is not there any more and may come back: what lies
// where nothing can be read, and what has just gone, because editors move a file
// away for a moment. Of the latter it reports that there is some.
func (x *folderIndex) vanished(sc *scan, o *Options, next map[string]*entry) (unstable bool) {
	for folder, e := range x.entries {
		switch {
		case next[folder] != nil:
		case slices.ContainsFunc(sc.unreadable, func(f string) bool { _, in := places.Below(f, folder); return in }):
			next[folder], e.sure = e, false
			if e.good != nil {
				d := &Document{}
				d.Diagnostics = []diagnostic{*frontmatter.Wrong("unreadable", 0, 0, "the folder that it lies in cannot be looked into", "Make it readable for you: chmod u+rx.")}
				e.show(d)
			}
		case !sc.pass.Last && justGone(folder, o.times.Settle, o.times.Now()):
			unstable = true
		}
	}
	return unstable
}

// justGone reports whether a folder may have gone a moment ago, by the time of
// the one that it was in.
func justGone(folder string, settle time.Duration, now time.Time) bool {
	for at := folder; at != filepath.Dir(at); at = filepath.Dir(at) {
		if info, err := os.Lstat(at); err == nil {
			return watch.KeyOf(info).Moving(now, settle)
		}
	}
	return false
}

// show makes the snapshot.
func (x *folderIndex) show(sc *scan, remote func(folder string) string) {
	s := snapshot{state: rpc.SkillFolder{Tier: x.at.Tier, Path: x.at.Path, Exists: sc.exists, Problem: sc.problem, Watching: watch.Native()}}
	for _, e := range x.entries {
		if e.doc != nil {
			s.docs = append(s.docs, e.doc)
		}
	}
	slices.SortFunc(s.docs, func(a, b *Document) int { return strings.Compare(a.Folder, b.Folder) })
	s.state.Skills = len(s.docs)
	if kind := remote(sc.real); sc.real != "" && kind != "" {
		sc.pass.Unwatchable()
		s.state.Watching = watchingPolling
		s.state.Problem = cmp.Or(s.state.Problem, "changes of a file system of the kind "+kind+" cannot be watched, and are found late")
	}
	switch {
	case len(s.docs) > 0:
		x.had = sc.id
	case x.had.Dev != 0 && x.had.Dev != sc.id.Dev:
		s.state.Problem = cmp.Or(s.state.Problem, "the file system on which it was is not there any more")
	}
	x.now = s
}

// folderSum is the hash of a skill's whole folder, to which trust is bound, or
// why there is none.
type folderSum struct{ hash, problem string }

const (
	mostAlike    = 8 // folders that are hashed of the skills of one name
	tooManyAlike = "too many other folders of the project have a skill of this name"
)

// sum makes the sums of the skills of the index for which people answered, and
// watches all their folders: what nobody asked for must cost nothing.
func (x *folderIndex) sum(sc *scan, hash func(folder string, enter func(dir string)) (string, error), trusted map[string]string) {
	alike := map[string]int{}
	for _, f := range sc.found {
		e := x.entries[f.folder]
		if e == nil || e.doc == nil || f.trouble != nil {
			continue
		}
		var sum folderSum
		name := e.doc.Name
		if trusted[name] != "" {
			if alike[name]++; alike[name] > mostAlike {
				sum.problem = tooManyAlike
			} else if h, err := hash(f.home, sc.pass.Folder); err != nil {
				sum.problem = err.Error()
			} else {
				sum.hash = h
			}
		}
		if e.doc.sum != sum {
			d := *e.doc
			d.sum, e.doc = sum, &d
		}
	}
}
