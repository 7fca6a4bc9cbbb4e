package host

import (
	"sync"

	"github.com/bothyd/bothy/daemon/internal/group"
)

// spaces are the user namespaces of confined plugins, each from its start until nobody is
// in it: a process that outlived the plugin is still known to be the plugin's.
type spaces struct {
	mu   sync.Mutex
	over map[*group.Space]bool // whether the plugin's own process has ended
}

// enter keeps the namespace of a process that has just started; nil when it has none of its
// own. Those that could not be emptied before are tried again.
func (s *spaces) enter(pid int) *group.Space {
	one := group.SpaceOf(pid)
	s.mu.Lock()
	defer s.mu.Unlock()
	for space, over := range s.over {
		if over && group.KillMarked("", space) {
			s.drop(space)
		}
	}
	if one != nil {
		if s.over == nil {
			s.over = map[*group.Space]bool{}
		}
		s.over[one] = false
	}
	return one
}

// leave says that the plugin's own process has ended, and whether nobody is left.
func (s *spaces) leave(space *group.Space, empty bool) {
	if space == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over[space] = true; empty {
		s.drop(space)
	}
}

// drop needs s.mu.
func (s *spaces) drop(space *group.Space) {
	delete(s.over, space)
	space.Close()
}

// has reports whether a process is in one of them.
func (s *spaces) has(pid int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for space := range s.over {
		if space.Has(pid) {
			return true
		}
	}
	return false
}
