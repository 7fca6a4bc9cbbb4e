package skill

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// parseFunc reads the text of a SKILL.md that lies in a folder.
type parseFunc func(text []byte, folder string) Document

// shelf is one Folder and what is remembered of it from look to look.
type shelf struct {
	at    Folder
	known map[string]*record // by folder as found
	docs  []*Document        // as shown, by folder
	sums  map[*Document]folderSum
	here  identity // of the folder
	had   identity // the same, when it had skills last
	state FolderState
}

// looker is what a look needs to know.
type looker struct {
	parse    parseFunc
	hash     func(folder string) (string, error) // of a workspace's skills; nil without one
	answered func(name string) bool              // which of them are hashed
	settle   time.Duration                       // how long a file must not have changed to be whole
	force    bool                                // what does not settle is taken if it can be loaded
	clock    func() time.Time
	deaf     func(folder string) string // names a file system that makes no events
	watch    func(folder string)
	link     func(folder, link string)
}

// look brings the shelf up to what is on disk. It reports whether something may
// be half done: then nothing of the shelf should be shown before another look.
func (s *shelf) look(l looker) (hasty bool) {
	sc := &scan{at: s.at, watch: l.watch, link: l.link}
	defer sc.end()
	sc.run()
	todo, hasty := s.decide(sc, l)
	contents := readAll(todo, l.parse)
	for i, x := range todo {
		c, now := contents[i], l.clock()
		whole := c.trouble != nil || c.key == x.found.key // else it changed while it was read
		switch {
		case !x.read:
		case !whole && !l.force:
			hasty = true
		case x.hasty && (!whole || c.doc != nil && !c.doc.Loaded):
			// It never settles, and is in the middle of something.
		default:
			x.record.take(s.at, x.found, c, now)
		}
	}
	hasty = s.lose(sc, l) || hasty
	if l.hash != nil {
		s.sum(sc, l)
	}
	s.show(sc, l)
	return hasty
}

// decide says what has to be read.
func (s *shelf) decide(sc *scan, l looker) (todo []reading, hasty bool) {
	now := l.clock()
	for _, f := range sc.found {
		r := s.known[f.folder]
		if r == nil {
			r = &record{}
			s.known[f.folder] = r
		}
		r.lost = time.Time{}
		if f.trouble != nil {
			s.trouble(r, f, now)
			continue
		}
		if r.key == f.key && r.sure && r.now != nil {
			r.since = time.Time{}
			continue
		}
		x := reading{found: f, record: r, read: true}
		if r.key != f.key && !r.settled(f.key, l.settle, now) {
			hasty = true
			x.hasty, x.read = true, l.force
		}
		todo = append(todo, x)
	}
	return todo, hasty
}

// trouble takes what cannot be opened.
func (s *shelf) trouble(r *record, f finding, now time.Time) {
	if strings.HasPrefix(f.trouble.Code, "link-") {
		r.refuse(s.at, f, now)
		return
	}
	r.take(s.at, f, content{sum: f.trouble.Code + ": " + f.trouble.Message, trouble: f.trouble}, now)
}

// settled reports whether a file with that key is likely to be whole: nobody
// has changed it for a while, by its own time or by ours.
func (r *record) settled(key fileKey, settle time.Duration, now time.Time) bool {
	if key.age(now) >= settle {
		return true
	}
	if r.seen != key || r.since.IsZero() {
		r.seen, r.since = key, now
		return false
	}
	return now.Sub(r.since) >= settle
}

// readAll reads what is to be read, on all processors.
func readAll(todo []reading, parse parseFunc) []content {
	out := make([]content, len(todo))
	var wg sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), len(todo))
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(todo); i += workers {
				if x := todo[i]; x.read {
					out[i] = x.found.read(parse, x.record.sum)
				}
			}
		})
	}
	wg.Wait()
	return out
}

// lose takes away what is not there any more, unless nothing is known of where
// it was. Editors move a file away for a moment.
func (s *shelf) lose(sc *scan, l looker) (hasty bool) {
	there := make(map[string]bool, len(sc.found))
	files := make(map[identity]bool, len(sc.found))
	for _, f := range sc.found {
		there[f.folder] = true
		files[f.key.identity] = true
	}
	now := l.clock()
	for folder, r := range s.known {
		if there[folder] {
			continue
		}
		if blindTo(sc.blind, folder) {
			r.hide()
			continue
		}
		moved := r.key.identity != (identity{}) && files[r.key.identity]
		if !l.force && !moved && !r.gone(folder, l.settle, now) {
			hasty = true
			continue
		}
		delete(s.known, folder)
	}
	return hasty
}

func blindTo(blind []string, folder string) bool {
	return slices.ContainsFunc(blind, func(b string) bool { _, in := below(b, folder); return in })
}

// hide marks what lies in a folder that cannot be looked into.
func (r *record) hide() {
	const sum = "unseen"
	if r.sum == sum || r.good == nil {
		return
	}
	r.sum, r.sure = sum, false
	r.now = stale(r.good, []diagnostic{*wrong("unreadable", 0, 0, "the folder that it lies in cannot be looked into", "Make it readable for you: chmod u+rx.")})
}

// gone reports whether a skill has been missing for a while, by the time of the
// folder that it was in or by ours.
func (r *record) gone(folder string, settle time.Duration, now time.Time) bool {
	if r.lost.IsZero() {
		r.lost = now
		for at := folder; at != filepath.Dir(at); at = filepath.Dir(at) {
			if info, err := os.Lstat(at); err == nil {
				return keyOf(info).age(now) >= settle
			}
		}
	}
	return now.Sub(r.lost) >= settle
}

// show makes what people see of the shelf.
func (s *shelf) show(sc *scan, l looker) {
	state := FolderState{Tier: s.at.Tier, Path: s.at.Path, Exists: sc.exists, Problem: sc.problem}
	docs := make([]*Document, 0, len(s.known))
	for _, r := range s.known {
		if r.now != nil {
			docs = append(docs, r.now)
		}
	}
	s.sums = nil
	for _, r := range s.known {
		if r.whole.sum != (folderSum{}) && r.now != nil {
			if s.sums == nil {
				s.sums = map[*Document]folderSum{}
			}
			s.sums[r.now] = r.whole.sum
		}
	}
	slices.SortFunc(docs, func(a, b *Document) int { return strings.Compare(a.Folder, b.Folder) })
	state.Skills = len(docs)
	if sc.real != "" {
		if kind := l.deaf(sc.real); kind != "" {
			state.Watching = "polling"
			if state.Problem == "" {
				state.Problem = "changes of a file system of the kind " + kind + " cannot be watched, and are found late"
			}
		}
	}
	s.here = sc.id
	switch {
	case len(docs) > 0:
		s.had = sc.id
	case s.had.dev != 0 && s.had.dev != sc.id.dev && state.Problem == "":
		state.Problem = "the file system on which it was is not there any more"
	}
	s.state, s.docs = state, docs
}
