package host

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"
)

// inflight counts the calls on a link, so that one which takes no more ends
// with the last of them. Its zero value is open, and knows no runs.
type inflight struct {
	mu    sync.Mutex
	shut  bool // it takes no more calls
	calls sync.WaitGroup
	runs  map[string]*keptRun   // whose calls it took; nil where the plugin keeps nothing for them
	letGo func(run, dir string) // has the plugin give a run up; set when a successor serves
}

// mostKept is how many runs are known of a process. What it keeps for one that was forgotten
// ends with it.
const mostKept = 4096

// keptRun is a run for which a process keeps something.
type keptRun struct {
	dir   string // "" until a call names it
	calls int
}

// begin counts a call, which must end; false when the link takes no more.
func (t *inflight) begin(run, dir string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shut {
		return false
	}
	t.calls.Add(1)
	if t.runs == nil || run == "" {
		return true
	}
	k := t.runs[run]
	if k == nil {
		if len(t.runs) >= mostKept {
			maps.DeleteFunc(t.runs, func(_ string, k *keptRun) bool { return k.calls == 0 })
		}
		k = &keptRun{}
		t.runs[run] = k
	}
	k.calls++
	if dir != "" { // not every call names it
		k.dir = dir
	}
	return true
}

// end ends a call. With the last one of a run the run is let go of, where a successor
// waits for it.
func (t *inflight) end(run string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.calls.Done()
	if k := t.runs[run]; k != nil {
		if k.calls--; k.calls == 0 && t.letGo != nil {
			t.calls.Go(func() { t.letGo(run, k.dir) })
		}
	}
}

// drained makes the link take no more calls; the channel is closed when the last one has
// ended. With letGo, each run is let go of besides, with the last of its calls.
func (t *inflight) drained(letGo func(run, dir string)) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.letGo, t.shut = letGo, true
	for run, k := range t.runs {
		if k.calls == 0 && letGo != nil {
			t.calls.Go(func() { letGo(run, k.dir) })
		}
	}
	over := make(chan struct{})
	go func() { // calls end with the process
		defer close(over)
		t.calls.Wait()
	}()
	return over
}

// releasing bounds what a plugin may take to give up one run: calls of the run may
// wait for it in the process that took its place.
const releasing = 10 * time.Second

// release has the plugin give up what it keeps for a run. What it does not give up ends
// with its process.
func (l *link) release(run, dir string) {
	ctx, cancel := context.WithTimeout(l.alive, releasing)
	defer cancel()
	if err := l.base.Release(ctx, run, dir); err != nil && l.alive.Err() == nil {
		l.log.Warn("the plugin did not give up a run for its successor", "run", run, "error", err)
	}
}

// called is a link that can be called, with the call of the run counted until end. A
// run may have calls on two processes for as long as one takes the other's place.
func (i *instance) called(ctx context.Context, run, dir string) (l *link, end func(), err error) {
	for {
		l, err := i.ready(ctx)
		if err != nil {
			return nil, nil, err
		}
		if l.calls.begin(run, dir) {
			return l, func() { l.calls.end(run) }, nil
		} // it was replaced in between; its successor serves already
	}
}

// calledBy is called, with nothing waited for beyond until, where that is a time.
func (i *instance) calledBy(ctx context.Context, until time.Time, run, dir string) (l *link, end func(), err error) {
	if until.IsZero() {
		return i.called(ctx, run, dir)
	}
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	return i.called(ctx, run, dir)
}

// finish ends the channel of a link and lets its calls end, then the plugin. What
// does not end within Config.DrainLimit is ended with it; an orderly stop of the
// daemon does not wait for calls. With letGo a successor waits for the link's runs.
func (s *Supervisor) finish(l *link, letGo func(run, dir string)) {
	drained := l.calls.drained(letGo)
	l.channelServer.close()
	select {
	case <-drained:
	case <-l.alive.Done():
	case <-s.life.Done():
	case <-time.After(s.cfg.DrainLimit):
		l.finish(fmt.Sprintf("another process of the plugin had taken its place %v before, and this call had not ended", s.cfg.DrainLimit), false)
		l.close()
		return
	}
	if l.alive.Err() == nil {
		l.drain(s.stopContext())
	}
	l.close()
}

// stopContext bounds draining while the daemon stops.
func (s *Supervisor) stopContext() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopping
}
