package sandbox

import (
	"os"
	"path/filepath"
	"slices"
)

// lateSettlement is what became of the changes of a command that somebody else has
// answered, with an error or by dying. What it replaced is kept until release.
type lateSettlement struct {
	settlement
	dir     string
	release func() // it was told
	free    func() // it was not, and may be by another manager
}

// tells says whether there is anything to tell of.
func (s *settlement) tells() bool {
	return len(s.Changes)+len(s.Held)+len(s.Conflicts)+len(s.Violations) > 0
}

// tellLater has the run's next result tell of a plan that was carried out. Dir is empty
// where there is no view of its own.
func (s *session) tellLater(done settlement, dir string) {
	if !done.tells() {
		return
	}
	l := lateSettlement{settlement: done, dir: dir, release: func() {}, free: func() {}}
	if dir != "" {
		l.free = s.manager.views.use(dir)
		l.release = told(dir, l.free)
	}
	s.late = append(s.late, l)
}

// told is the release of a view's folder that was told of: no other manager tells of it.
func told(dir string, free func()) (release func()) {
	return func() {
		_ = os.Remove(filepath.Join(dir, lateName)) // else it is told twice
		free()
	}
}

// toldAlready gives up telling of a call's changes: its own result is asked for.
func (s *session) toldAlready(call string) {
	s.late = slices.DeleteFunc(s.late, func(l lateSettlement) bool {
		if call == "" || l.Note.Call != call {
			return false
		}
		l.release()
		return true
	})
}

// takeLate puts what was carried out late before what the result tells.
func (s *session) takeLate(r *Result) {
	for _, l := range slices.Backward(s.late) {
		r.precede(l)
	}
	s.late = nil
}

// dropLate forgets what no result of this manager will tell.
func (s *session) dropLate() {
	for _, l := range s.late {
		l.free()
	}
	s.late = nil
}

// precede puts a settlement before the result's own. What both changed was in between
// what the later one replaced.
func (r *Result) precede(l lateSettlement) {
	var first Result
	first.take(l.settlement)
	for i, c := range first.Changes {
		later := slices.IndexFunc(r.Changes, func(own Change) bool { return own.Path == c.Path })
		if later >= 0 && c.Is.Kind != "" {
			first.Changes[i].Now = r.Changes[later].Old
		}
	}
	first.Held = slices.DeleteFunc(slices.Clone(first.Held), func(h Held) bool {
		return slices.ContainsFunc(r.Held, func(own Held) bool { return own.Path == h.Path })
	})
	r.Changes, r.Held = append(first.Changes, r.Changes...), append(first.Held, r.Held...)
	r.Conflicts = append(slices.Clone(first.Conflicts), r.Conflicts...)
	r.Violations = append(first.Violations, r.Violations...)
	r.Viewed = true
	r.earlier = append(r.earlier, l.dir)
	release := r.release
	r.release = func() {
		l.release()
		if release != nil {
			release()
		}
	}
}
