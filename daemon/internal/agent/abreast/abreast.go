// Package abreast keeps children that work side by side in one project from writing over what a sibling changed and
// they have not seen (decision 103). It is told of their calls, and makes none of its own.
package abreast

import (
	"context"
	"slices"
	"sync"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/protect"
)

// Children knows what children at work changed in their projects, and what each of them has looked at since: a tool for
// files does not write over what a sibling did and its run has not seen. Commands need none of it, as their changes
// are compared with the project when they are applied. It is kept for as long as any child works; after a restart
// nobody remembers, and the tools compare what they are given with the disk as ever. Its zero value works.
type Children struct {
	mu      sync.Mutex
	now     int                     // counts what was changed
	working map[int64]*sight        // by run
	changed map[place]map[int64]int // when each run changed a path last
	locks   map[int64]chan struct{} // by project: full while somebody changes files
}

// sight is what one run has seen.
type sight struct {
	from int           // all that was changed before
	seen map[place]int // and of a path, until when
}

type place struct {
	project int64
	path    string
}

// Begin is told of a child that begins to work; end that it rests.
func (w *Children) Begin(run int64) (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.working == nil {
		w.working, w.changed, w.locks = map[int64]*sight{}, map[place]map[int64]int{}, map[int64]chan struct{}{}
	}
	w.working[run] = &sight{from: w.now, seen: map[place]int{}}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if delete(w.working, run); len(w.working) == 0 {
			w.changed, w.locks, w.working = nil, nil, nil
		}
	}
}

// Call makes a call of a child, unless it changes what a sibling has changed and the child has not seen. One that changes
// files is alone in that; it waits for its turn until ctx ends. Named are the paths that it is about; a call that is made for another one
// which changes files is not alone, as it would wait for that.
func (w *Children) Call(ctx context.Context, run, project int64, named []string, changes, alone bool, do func() (sdk.ToolResult, error)) (sdk.ToolResult, error) {
	w.mu.Lock()
	s, since := w.working[run], w.now
	if s == nil { // no child, or one that was ended
		w.mu.Unlock()
		return do()
	}
	lock := w.locks[project]
	if lock == nil {
		lock = make(chan struct{}, 1)
		w.locks[project] = lock
	}
	w.mu.Unlock()
	if changes && alone { // what a sibling's tool does meanwhile is known before this one is made
		select {
		case lock <- struct{}{}:
			defer func() { <-lock }()
		case <-ctx.Done():
			return sdk.ToolResult{}, sdk.Errorf(sdk.Conflict, "another run at work in this project was changing its files until this call was ended; nothing was done").Tell(
				"not done: another agent was changing files of this project all the time; make the call again if it is still needed")
		}
	}
	if changes {
		if at := w.unseen(run, project, s, named); at != "" {
			return sdk.ToolResult{}, sdk.Errorf(sdk.Conflict, "another run at work in this project changed %s, and this one has not read it since; nothing was done", at).Tell(
				"not done: another agent at work in this project changed " + at + " since you read it; read it again, and change it only if that still fits")
		}
	}
	result, err := do()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		for _, at := range named {
			s.seen[place{project, at}] = since
		}
	}
	for _, c := range result.Changes {
		for _, at := range []string{c.Path, c.From} {
			if at != "" && w.changed != nil {
				w.change(run, place{project, at})
			}
		}
	}
	return result, err
}

func (w *Children) change(run int64, at place) {
	w.now++
	if w.changed[at] == nil {
		w.changed[at] = map[int64]int{}
	}
	w.changed[at][run] = w.now
}

// unseen is a path that another run changed since this one looked, among those that a call names, and in folders
// that it names or that lie above.
func (w *Children) unseen(run, project int64, s *sight, named []string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for at, by := range w.changed {
		if at.project != project {
			continue
		}
		for _, name := range named {
			if name != "." && !protect.Within(at.path, name) && !protect.Within(name, at.path) {
				continue
			}
			looked := max(s.from, s.seen[at], s.seen[place{project, name}])
			for other, when := range by {
				if other != run && when > looked {
					all = append(all, at.path)
				}
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	return slices.Min(all)
}
