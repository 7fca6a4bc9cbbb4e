package skill

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk/rpc"
)

// parseFunc reads the text of a SKILL.md that lies in a folder.
type parseFunc func(text []byte, folder string) Document

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
	sums  map[*Document]folderSum
}

func (s snapshot) equal(other snapshot) bool {
	return s.state == other.state && slices.Equal(s.docs, other.docs) && maps.Equal(s.sums, other.sums)
}

// watchingPolling is rpc.SkillFolder.Watching where changes make no events.
const watchingPolling = "polling"

// rescan is what the scans of one check need to know.
type rescan struct {
	pass     *watch.Pass // its Last: what does not settle is taken if it can be loaded
	parse    parseFunc
	hash     func(folder string) (string, error) // of a workspace's skills; nil without one
	answered func(name string) bool              // which of them are hashed
	settle   time.Duration                       // how long a file must not have changed to be whole
	clock    func() time.Time
	remote   func(folder string) string // names a file system that makes no events
}

// reading is a SKILL.md that has to be read.
type reading struct {
	found  finding
	entry  *entry
	moving bool // it may be half written
}

// scan brings the index up to what is on disk. It reports whether something may
// be half done: then nothing of the index should be shown before another scan,
// unless it is the last one of its pass.
func (x *folderIndex) scan(r rescan) (unstable bool) {
	sc := &scan{at: x.at, pass: r.pass}
	defer sc.end()
	sc.run()
	next := make(map[string]*entry, len(sc.found))
	todo, unstable := x.changed(sc, r, next)
	if x.vanished(sc, r, next) {
		unstable = true
	}
	if unstable && !r.pass.Last {
		return true
	}
	for i, c := range readAll(todo, r.parse) {
		t := todo[i]
		whole := c.trouble != nil || c.key == t.found.key // else it changed while it was read
		switch {
		case !whole && !r.pass.Last:
			unstable = true
		case t.moving && (!whole || c.doc != nil && !c.doc.Loaded):
			// It never settles, and is in the middle of something.
		default:
			t.entry.take(x.at, t.found, c, r.clock())
		}
	}
	x.entries = next
	if r.hash != nil {
		x.sum(sc, r)
	}
	x.show(sc, r)
	return unstable
}

// changed adds the entry of each skill that was found to next, and says what has
// to be read.
func (x *folderIndex) changed(sc *scan, r rescan, next map[string]*entry) (todo []reading, unstable bool) {
	now := r.clock()
	for _, f := range sc.found {
		e := x.entries[f.folder]
		if e == nil {
			e = &entry{}
		}
		next[f.folder] = e
		switch {
		case f.trouble != nil:
			e.refuse(x.at, f, now)
		case e.key != f.key || !e.sure || e.doc == nil:
			moving := e.key != f.key && f.key.Moving(now, r.settle)
			unstable = unstable || moving
			todo = append(todo, reading{f, e, moving})
		}
	}
	return todo, unstable
}

// readAll reads on all processors.
func readAll(todo []reading, parse parseFunc) []content {
	out := make([]content, len(todo))
	onAll(len(todo), func(i int) { out[i] = todo[i].found.read(parse, todo[i].entry.sum) })
	return out
}

// onAll does n pieces of work on all processors.
func onAll(n int, do func(i int)) {
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
func (x *folderIndex) vanished(sc *scan, r rescan, next map[string]*entry) (unstable bool) {
	now := r.clock()
	for folder, e := range x.entries {
		switch {
		case next[folder] != nil:
		case isBelow(sc.unreadable, folder):
			e.hide()
			next[folder] = e
		case !r.pass.Last && justGone(folder, r.settle, now):
			unstable = true
		}
	}
	return unstable
}

func isBelow(folders []string, path string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { _, in := below(f, path); return in })
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
func (x *folderIndex) show(sc *scan, r rescan) {
	s := snapshot{state: rpc.SkillFolder{Tier: x.at.Tier, Path: x.at.Path, Exists: sc.exists, Problem: sc.problem}}
	s.docs = make([]*Document, 0, len(x.entries))
	for _, e := range x.entries {
		if e.doc == nil {
			continue
		}
		s.docs = append(s.docs, e.doc)
		if e.digest.sum != (folderSum{}) {
			if s.sums == nil {
				s.sums = map[*Document]folderSum{}
			}
			s.sums[e.doc] = e.digest.sum
		}
	}
	slices.SortFunc(s.docs, func(a, b *Document) int { return strings.Compare(a.Folder, b.Folder) })
	s.state.Skills = len(s.docs)
	if kind := r.remoteKind(sc.real); kind != "" {
		r.pass.Unwatchable()
		s.state.Watching = watchingPolling
		if s.state.Problem == "" {
			s.state.Problem = "changes of a file system of the kind " + kind + " cannot be watched, and are found late"
		}
	}
	switch {
	case len(s.docs) > 0:
		x.had = sc.id
	case x.had.Dev != 0 && x.had.Dev != sc.id.Dev && s.state.Problem == "":
		s.state.Problem = "the file system on which it was is not there any more"
	}
	x.now = s
}

func (r rescan) remoteKind(folder string) string {
	if folder == "" {
		return ""
	}
	return r.remote(folder)
}
