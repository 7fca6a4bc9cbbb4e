// Package process runs the processes of plugins: it starts them in groups of their own,
// reads what they write, sees their end, and ends what they leave behind, also when the
// daemon is killed. It knows nothing of what is said over their sockets.
package process

import (
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/group"
)

// Set is all processes that a daemon has, and the namespaces of those that have one of
// their own: what outlived a confined plugin is still known to be that plugin's.
type Set struct {
	reaper *reaper

	mu     sync.Mutex
	there  map[*Process]struct{}
	spaces map[*group.Space]bool // whether the plugin's own process has ended
}

// NewSet is empty. Without a shim, what plugins start may outlive a daemon that is killed.
func NewSet(shim string, log hclog.Logger) *Set {
	return &Set{reaper: newReaper(shim, log), there: map[*Process]struct{}{}, spaces: map[*group.Space]bool{}}
}

// Stop ends what watches for the death of the daemon. All processes have ended.
func (s *Set) Stop() { s.reaper.stop() }

// Len is how many processes there are, with those that were not started and not closed.
func (s *Set) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.there)
}

// PIDs are the ids of all processes that are there.
func (s *Set) PIDs() (pids []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.there {
		if pid := p.PID(); pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Owns reports whether a process is one of PIDs or a descendant of one, or in the
// namespace of a confined one, also when that has ended. It can only be used to
// refuse: see group.Descends.
func (s *Set) Owns(pid int) bool {
	if group.Descends(pid, s.PIDs()) {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for space := range s.spaces {
		if space.Has(pid) {
			return true
		}
	}
	return false
}

func (s *Set) add(p *Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.there[p] = struct{}{}
}

func (s *Set) drop(p *Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.there, p)
}

// enter keeps the namespace of a process that has just started; nil when it has none of its
// own. Those that could not be emptied before are tried again.
func (s *Set) enter(pid int) *group.Space {
	one := group.SpaceOf(pid)
	s.mu.Lock()
	defer s.mu.Unlock()
	for space, over := range s.spaces {
		if over && group.KillMarked("", space) {
			s.close(space)
		}
	}
	if one != nil {
		s.spaces[one] = false
	}
	return one
}

// leave says that the plugin's own process has ended, and whether nobody is left.
func (s *Set) leave(space *group.Space, empty bool) {
	if space == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spaces[space] = true; empty {
		s.close(space)
	}
}

// close needs s.mu.
func (s *Set) close(space *group.Space) {
	delete(s.spaces, space)
	space.Close()
}
