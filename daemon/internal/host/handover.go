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

// tenures says which process of an instance keeps something for which run, for
// plugins with the feature release. A run whose calls are under way on a process
// that was replaced stays there; one that is idle is released there, once, and
// goes to the successor. The zero value is ready. Locks: mu may be held while a
// turnstile is entered, never while a plugin is called.
type tenures struct {
	mu sync.Mutex
	of map[string]*tenure // by run
}

// tenure is that of one run.
type tenure struct {
	holder *link
	runDir string
	calls  int           // of the run, that are on the holder
	moved  chan struct{} // closed when the run was released; nil while it is not to be
}

// callableFor is callable for a call of a run: it ends with l.leave(run). Without
// a run, and for a plugin that keeps nothing for one, there is no difference.
func (i *instance) callableFor(ctx context.Context, run, runDir string) (*link, error) {
	for {
		l, err := i.ready(ctx)
		if err != nil {
			return nil, err
		}
		if run == "" || !l.keeps && !i.tenures.any() {
			if l.calls.enter() {
				return l, nil
			}
			continue // it was replaced in between; its successor serves already
		}
		holder, wait := i.tenures.enter(l, run, runDir)
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

// leave ends a call of a run.
func (l *link) leave(run string) {
	if run == "" || !l.keeps {
		l.calls.leave()
		return
	}
	l.owner.leave(l, run)
}

func (t *tenures) any() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.of) > 0
}

// enter counts a call of a run on the process that has the run, which may be
// another one than the latest. Without one the caller waits, if there is
// something to wait for, and tries again.
func (t *tenures) enter(latest *link, run, runDir string) (*link, <-chan struct{}) {
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
	case x == nil && !latest.calls.enter():
		return nil, nil
	case x == nil && !latest.keeps:
		return latest, nil
	case x == nil:
		if t.of == nil {
			t.of = map[string]*tenure{}
		}
		t.of[run] = &tenure{holder: latest, runDir: runDir, calls: 1}
		return latest, nil
	case x.moved != nil:
		return nil, x.moved
	case x.calls > 0:
		x.holder.calls.join()
	case !x.holder.calls.enter(): // it takes no more, and the run is about to be released
		return nil, nil
	}
	x.calls++
	return x.holder, nil
}

// leave ends a call of a run. The last one of a process that was replaced gives
// the run up there.
func (t *tenures) leave(l *link, run string) {
	t.mu.Lock()
	x := t.of[run]
	if x == nil || x.holder != l {
		t.mu.Unlock()
		l.calls.leave()
		return
	}
	x.calls--
	last := x.calls == 0 && l.superseded
	if last {
		x.moved = make(chan struct{})
	}
	t.mu.Unlock()
	if !last {
		l.calls.leave()
		return
	}
	t.release(l, run, x) // on the place of the call that ended
}

// supersede begins to move the runs of a link to its successor: the idle ones at
// once, the others with their last call. The link ends no sooner.
func (t *tenures) supersede(l *link) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l.superseded = true
	for run, x := range t.of {
		if x.holder == l && x.calls == 0 && x.moved == nil && l.calls.enter() {
			x.moved = make(chan struct{})
			t.release(l, run, x)
		}
	}
}

// release gives a run up on its process, in the background, and then lets its
// calls go on. It takes over one place in the link's turnstile. One that cannot
// be given up is not kept from its successor: what the old process had for it
// ends with that process.
func (t *tenures) release(l *link, run string, x *tenure) {
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
		l.calls.leave()
	}()
}

// forget drops a run of which the plugin was told that it keeps nothing any more.
func (t *tenures) forget(run string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if x := t.of[run]; x != nil && x.calls == 0 && x.moved == nil {
		delete(t.of, run)
	}
}

// keepsRuns reports whether a manifest says that its plugin keeps something for
// each run, and can give it up.
func keepsRuns(m *sdk.Manifest) bool { return slices.Contains(m.Features, sdk.FeatureRelease) }
