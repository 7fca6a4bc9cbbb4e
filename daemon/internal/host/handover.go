package host

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// releasing bounds what a plugin may take to give up one run: calls of the run
// wait for it.
const releasing = 10 * time.Second

// affinity says which process of an instance keeps something for which run, for
// plugins with the feature release. A run whose calls are under way on a process
// that was replaced stays there; one that is idle is released there, once, and
// goes to the successor. The zero value is ready. Locks: mu may be held while a
// call is counted on a link, never while a plugin is called.
type affinity struct {
	mu sync.Mutex
	of map[string]*runHolder // by run
}

// runHolder is the process that keeps something for one run.
type runHolder struct {
	holder *link
	runDir string
	calls  int           // of the run, that are on the holder
	moved  chan struct{} // closed when the run was released; nil while it is not to be
}

// callableFor is a link that can be called, with the call counted: it ends with
// l.endCall(run). A call of a run goes to the process that keeps something for the
// run; without a run, or where nothing is kept, to the latest. See ready.
func (i *instance) callableFor(ctx context.Context, run, runDir string) (*link, error) {
	for {
		l, err := i.ready(ctx)
		if err != nil {
			return nil, err
		}
		if run == "" || !l.keeps && !i.affinity.any() {
			if l.calls.begin() {
				return l, nil
			}
			continue // it was replaced in between; its successor serves already
		}
		holder, wait := i.affinity.begin(l, run, runDir)
		if holder != nil {
			return holder, nil
		}
		if wait == nil {
			continue
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, gaveUp(ctx)
		}
	}
}

// endCall ends a call of a run.
func (l *link) endCall(run string) {
	if run == "" || !l.keeps {
		l.calls.end()
		return
	}
	l.owner.end(l, run)
}

func (t *affinity) any() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.of) > 0
}

// begin counts a call of a run on the process that has the run, which may be
// another one than the latest. Without one the caller waits, if there is
// something to wait for, and tries again.
func (t *affinity) begin(latest *link, run, runDir string) (*link, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x := t.of[run]
	if x != nil && x.holder.alive.Err() != nil { // what it kept is gone with it
		delete(t.of, run)
		x = nil
	}
	if x != nil && x.moved == nil && x.runDir == "" {
		x.runDir = runDir // not every call names it
	}
	switch {
	case x == nil && !latest.calls.begin():
		return nil, nil
	case x == nil && !latest.keeps:
		return latest, nil
	case x == nil:
		if t.of == nil {
			t.of = map[string]*runHolder{}
		}
		t.of[run] = &runHolder{holder: latest, runDir: runDir, calls: 1}
		return latest, nil
	case x.moved != nil:
		return nil, x.moved
	case x.calls > 0:
		x.holder.calls.join()
	case !x.holder.calls.begin(): // it takes no more, and the run is about to be released
		return nil, nil
	}
	x.calls++
	return x.holder, nil
}

// end ends a call of a run. The last one of a process that was replaced gives
// the run up there.
func (t *affinity) end(l *link, run string) {
	t.mu.Lock()
	x := t.of[run]
	if x == nil || x.holder != l {
		t.mu.Unlock()
		l.calls.end()
		return
	}
	x.calls--
	last := x.calls == 0 && l.superseded
	if last {
		x.moved = make(chan struct{})
	}
	t.mu.Unlock()
	if !last {
		l.calls.end()
		return
	}
	t.release(l, run, x) // on the place of the call that ended
}

// supersede begins to move the runs of a link to its successor: the idle ones at
// once, the others with their last call. The link ends no sooner.
func (t *affinity) supersede(l *link) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l.superseded = true
	for run, x := range t.of {
		if x.holder == l && x.calls == 0 && x.moved == nil && l.calls.begin() {
			x.moved = make(chan struct{})
			t.release(l, run, x)
		}
	}
}

// release gives a run up on its process, in the background, and then lets its
// calls go on. It takes over one call that is counted on the link. One that cannot
// be given up is not kept from its successor: what the old process had for it
// ends with that process.
func (t *affinity) release(l *link, run string, x *runHolder) {
	go func() { // it ends with l.alive
		ctx, cancel := context.WithTimeout(l.alive, releasing)
		defer cancel()
		if err := l.base.Release(ctx, run, x.runDir); err != nil {
			l.log.Warn("the plugin did not give up a run for its successor", "run", run, "error", err)
		}
		t.mu.Lock()
		if t.of[run] == x {
			delete(t.of, run)
		}
		t.mu.Unlock()
		close(x.moved)
		l.calls.end()
	}()
}

// forget drops a run of which the plugin was told that it keeps nothing any more.
func (t *affinity) forget(run string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if x := t.of[run]; x != nil && x.calls == 0 && x.moved == nil {
		delete(t.of, run)
	}
}

// keepsRuns reports whether a manifest says that its plugin keeps something for
// each run, and can give it up.
func keepsRuns(m *sdk.Manifest) bool { return slices.Contains(m.Features, sdk.FeatureRelease) }
