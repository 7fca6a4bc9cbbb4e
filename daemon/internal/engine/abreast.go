package engine

import (
	"context"
	"slices"
	"sync"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/protect"
)

// abreast knows what children at work changed in their projects, and what each of them has looked at since: a tool for
// files does not write over what a sibling did and its run has not seen. Commands need none of it, as their changes
// are compared with the project when they are applied. It is kept for as long as any child works; after a restart
// nobody remembers, and the tools compare what they are given with the disk as ever.
type abreast struct {
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

// begin is told of a child that begins to work; end that it rests.
func (w *abreast) begin(run int64) (end func()) {
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

// call makes a call of a child, unless it changes what a sibling has changed and the child has not seen. One that changes
// files is alone in that; it waits for its turn until ctx ends.
func (w *abreast) call(ctx context.Context, run, project int64, named []string, changes, alone bool, do func() (sdk.ToolResult, error)) (sdk.ToolResult, error) {
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

func (w *abreast) change(run int64, at place) {
	w.now++
	if w.changed[at] == nil {
		w.changed[at] = map[int64]int{}
	}
	w.changed[at][run] = w.now
}

// unseen is a path that another run changed since this one looked, among those that a call names, and in folders
// that it names or that lie above.
func (w *abreast) unseen(run, project int64, s *sight, named []string) string {
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

// besideSiblings makes a call of a tool. Of a child it heeds what its siblings do.
func (e *Engine) besideSiblings(ctx context.Context, a *activeLoop, x *action, do func() (sdk.ToolResult, error)) (sdk.ToolResult, error) {
	if a.run.Delegator == 0 || e.cfg.Access == nil {
		return do()
	}
	var named []string
	if x.workOnFiles() {
		named = e.cfg.Access.Worked(x.request())
	}
	changes := x.changesFiles()
	return e.abreast.call(ctx, a.run.ID, a.project.ID, named, changes, changes && !a.turn.changesFor(x), do)
}

// workOnFiles reports whether the call's tool works on the project itself: commands do not, whose changes are compared
// with it when they are applied.
func (x *action) workOnFiles() bool {
	return x.own == nil && slices.Contains(x.tool.Grants, sdk.GrantProject) && x.tool.Command == ""
}

// changesFiles reports whether it may change files there.
func (x *action) changesFiles() bool { return x.workOnFiles() && !x.tool.Annotations.ReadOnly }

// changesFor reports whether a call is made for another one of the turn that changes files, and is alone in that already.
func (t *turn) changesFor(x *action) bool {
	t.children.mu.Lock()
	defer t.children.mu.Unlock()
	all := t.all()
	for x.plugged() {
		i := slices.IndexFunc(all, func(by *action) bool { return by.Path == x.Parent })
		if i < 0 {
			return false
		}
		if x = all[i]; x.changesFiles() {
			return true
		}
	}
	return false
}
