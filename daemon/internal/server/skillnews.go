package server

import (
	"maps"
	"slices"
	"sync"

	"github.com/bothyd/bothy/sdk/rpc"
)

// skillNews is what one client is still to be told of the skills. At most one
// line of it is on its way; what happens meanwhile is put together, name by
// name, so that a client that does not read costs no more than the names there
// are.
type skillNews struct {
	out *outbox

	mu      sync.Mutex
	busy    bool                             // a line is on its way; the greeting is the first
	waiting map[string]map[string]skillState // by project and name
}

// skillState is what became of a name since the client was told last.
type skillState int

const (
	skillAdded skillState = iota + 1
	skillChanged
	skillRemoved
)

// tell has the client told, now or when it has read what it was told before.
func (n *skillNews) tell(p rpc.SkillsChanged) {
	n.mu.Lock()
	if n.waiting == nil {
		n.waiting = map[string]map[string]skillState{}
	}
	for state, names := range map[skillState][]string{skillAdded: p.Added, skillChanged: p.Changed, skillRemoved: p.Removed} {
		for _, name := range names {
			n.add(p.Project, name, state)
		}
	}
	if n.busy {
		n.mu.Unlock()
		return
	}
	n.next()
}

// add puts two changes of one name together. One that came and went again is
// none.
func (n *skillNews) add(project, name string, state skillState) {
	of := n.waiting[project]
	if of == nil {
		of = map[string]skillState{}
		n.waiting[project] = of
	}
	switch before := of[name]; {
	case before == skillAdded && state == skillRemoved:
		delete(of, name)
	case before == skillAdded:
	case before == 0 || state == skillRemoved:
		of[name] = state
	default:
		of[name] = skillChanged
	}
	if len(of) == 0 {
		delete(n.waiting, project)
	}
}

// sent is called when a line was written, or never will be.
func (n *skillNews) sent() {
	n.mu.Lock()
	n.next()
}

// next sends what waits for one project. It is called with the lock and gives it
// back: the outbox may call sent at once.
func (n *skillNews) next() {
	n.busy = len(n.waiting) > 0
	if !n.busy {
		n.mu.Unlock()
		return
	}
	project := slices.Min(slices.Collect(maps.Keys(n.waiting)))
	names := map[skillState][]string{}
	for _, name := range slices.Sorted(maps.Keys(n.waiting[project])) {
		state := n.waiting[project][name]
		names[state] = append(names[state], name)
	}
	delete(n.waiting, project)
	n.mu.Unlock()
	n.out.note(rpc.NoteSkills, rpc.SkillsChanged{
		Project: project, Added: names[skillAdded], Changed: names[skillChanged], Removed: names[skillRemoved],
	}, n.sent)
}
