package engine

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/daemon/internal/mirror"
	"github.com/bothyd/bothy/sdk"
)

// worker takes the loops of one run, one after the other, and goes when there
// are none. Its fields are guarded by Engine.mu.
type worker struct {
	run     int64
	first   next                    // it comes before what waits
	again   bool                    // a loop was queued since the worker last looked
	tell    bool                    // it is to be told when nothing works or waits
	telling bool                    // that is being told now: there is nothing to abort
	told    chan struct{}           // closed when it was told, or a loop begins; nil when nobody waits for that
	abort   bool                    // the loop that is about to begin shall end
	over    int64                   // the loop of this id shall end when it begins; see endWork
	loop    int64                   // that runs; 0 between loops
	cancel  context.CancelCauseFunc // of the loop that runs; nil between loops
	ended   chan struct{}           // closed when the loop that runs, or comes, has ended
}

// next is a loop that is claimed already; of no id it is none.
type next struct {
	loop sdk.Loop
	left bool // an earlier daemon began it
}

// wake makes sure that somebody works on the run. After Close has begun it
// does nothing: what is queued waits for the next daemon.
func (e *Engine) wake(run int64) { e.wakeWith(run, next{}) }

// wakeWith is wake for a run in which a loop is claimed. One that was left running
// must come before any other wake of the run.
func (e *Engine) wakeWith(run int64, first next) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	if w, ok := e.workers[run]; ok {
		w.again = true
		if first.loop.ID != 0 { // the worker that is there has nothing to do, or only tells that the run is idle
			w.first = first
		}
		return
	}
	w := &worker{run: run, first: first, ended: make(chan struct{})}
	e.workers[run] = w
	e.busy.Go(func() { e.work(w) })
}

// working reports whether the run has a loop that runs or waits.
func (e *Engine) working(run int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, ok := e.workers[run]
	return ok
}

func (e *Engine) work(w *worker) {
	defer e.forgetViews(w.run)
	_, giveBack := e.book(w.run) // so that it is not made anew for every turn
	defer giveBack()
	defer e.letGo(w)
	wait := firstPause
	for e.backlog.Wait(e.draining) == nil && e.draining.Err() == nil {
		n, err := e.claim(e.base, w)
		switch {
		case err != nil && passing(err):
			e.log.Error("a run's next prompt could not be taken yet", "run", w.run, "error", err)
			sleep(e.draining, wait)
			wait = min(2*wait, longestPause)
		case n.loop.ID != 0:
			if !n.left {
				failpoint.Hit(failpoint.ClaimAfter)
			}
			wait = firstPause
			e.letGo(w)
			e.runLoop(w, n.loop, n.left)
		case e.toTell(w):
			e.tellIdle(w.run)
			e.letGo(w)
		case e.retire(w):
			return
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.remove(w)
}

// tellIdle tells that nothing of a run works or waits. A prompt that comes meanwhile
// waits until that is told, so that who ends something then ends nothing of its.
func (e *Engine) tellIdle(id int64) {
	if !e.cfg.Hooks.RunIdle.Active() {
		return
	}
	run, err := e.cfg.Store.Run(e.base, id)
	if err != nil {
		return // it is gone
	}
	project, err := e.cfg.Store.Project(e.base, run.Project)
	if err != nil {
		return
	}
	e.cfg.Hooks.RunIdle.Emit(e.base, sdk.RunEvent{Run: run.ForHook(), Project: project.Root, RunDir: e.runDir(run)})
}

// wakeIdle tells that a run is idle, unless a prompt of it works or waits, and waits for
// that.
func (e *Engine) wakeIdle(run int64) {
	e.mu.Lock()
	w, working := e.workers[run]
	switch {
	case e.closed:
		e.mu.Unlock()
		return
	case working:
		w.tell, w.again = true, true
	default:
		w = &worker{run: run, tell: true, told: make(chan struct{}), ended: make(chan struct{})}
		e.workers[run] = w
		e.busy.Go(func() { e.work(w) })
	}
	told := w.told
	e.mu.Unlock()
	if !working {
		<-told
	}
}

// takeFirst is what the worker was given, once.
func (e *Engine) takeFirst(w *worker) next {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := w.first
	w.first = next{}
	return n
}

// toTell reports once whether it is to be told that the run is idle.
func (e *Engine) toTell(w *worker) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	w.telling, w.tell = w.tell, false
	return w.telling
}

// letGo ends the waiting of who waits until it was told that a run is idle.
func (e *Engine) letGo(w *worker) {
	e.mu.Lock()
	defer e.mu.Unlock()
	w.telling = false
	if w.told != nil {
		close(w.told)
		w.told = nil
	}
}

// retire ends the worker unless a loop was queued since it last looked.
func (e *Engine) retire(w *worker) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if w.again {
		w.again = false
		return false
	}
	e.remove(w)
	return true
}

func (e *Engine) remove(w *worker) {
	if e.workers[w.run] == w {
		delete(e.workers, w.run)
		close(w.ended)
	}
}

// runLoop takes one loop from claim to end, or from where an earlier daemon
// left it. Whatever happens in between, the loop ends once, by finish; only a
// daemon that stops puts it down instead, for the next one to go on with.
func (e *Engine) runLoop(w *worker, l sdk.Loop, left bool) {
	ctx, cancel := context.WithCancelCause(e.base)
	defer cancel(nil)
	e.begin(w, l.ID, cancel)
	if optionsOf(l).Caller != 0 {
		defer e.abreast.Begin(l.Run)()
	}
	a := &activeLoop{loop: l, left: left, mirror: mirror.Of(e.cfg.Store, l.Run)}
	end := e.drive(ctx, a)
	if end.stop != stopStopping {
		e.endChildren(a)
	}
	e.previewed(a)
	if end.stop == stopStopping {
		e.putDown(a)
		e.over(w)
		return
	}
	tell := e.finish(ctx, a, end)
	if a.recorded { // who asks for it before that has it made
		if err := e.tapes().End(e.base, a.run, a.loop); err != nil && sdk.OutcomeOf(err) != sdk.NotFound {
			e.log.Warn("a prompt that was to be recorded has no cassette", "run", a.run.Alias, "loop", a.loop.Sequence, "error", err)
		}
	}
	e.over(w)
	tell()
}

func (e *Engine) begin(w *worker, loop int64, cancel context.CancelCauseFunc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	w.loop, w.cancel, w.tell = loop, cancel, true
	if w.abort {
		w.abort = false
		cancel(errAborted)
	}
	if w.over == loop {
		cancel(errCaller)
	}
	w.over = 0
}

// endWork ends a child's loop that runs or is about to begin, because the call that it is for is over. It waits for
// nothing.
func (e *Engine) endWork(l sdk.Loop) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch w, ok := e.workers[l.Run]; {
	case !ok:
	case w.loop == l.ID:
		w.cancel(errCaller)
	case w.loop == 0:
		w.over = l.ID
	}
}

func (e *Engine) over(w *worker) {
	e.mu.Lock()
	defer e.mu.Unlock()
	w.loop, w.cancel = 0, nil
	close(w.ended)
	w.ended = make(chan struct{})
}

// Abort ends the loop that the run works on, and returns when that is
// recorded, or after a second when the store takes no writes (unavailable): the
// work has ended then as well. Loops that wait go on after it. A run that works
// on nothing is a conflict, unless a client runs a command of it. Such commands are ended too.
func (e *Engine) Abort(ctx context.Context, run int64) error {
	e.mu.Lock()
	w, ok := e.workers[run]
	if !ok || w.telling {
		e.mu.Unlock()
		r, err := e.cfg.Store.Run(ctx, run)
		if err != nil {
			return err
		}
		if e.clients.CancelIn(ctx, run, "aborted by a person") > 0 {
			return nil
		}
		return sdk.Errorf(sdk.Conflict, "the run %s works on nothing now, so there is nothing to abort", r.Alias)
	}
	if w.cancel != nil {
		w.cancel(errAborted)
	} else {
		w.abort = true
	}
	ended := w.ended
	e.mu.Unlock()
	late := time.NewTicker(abortTime)
	defer late.Stop()
	for {
		select {
		case <-ended:
			e.clients.CancelIn(ctx, run, "aborted by a person")
			return nil
		case <-ctx.Done():
			return fmt.Errorf("the run was told to stop and has not ended yet: %w", ctx.Err())
		case <-late.C:
			if why := e.backlog.Reason(); why != nil {
				return sdk.Errorf(sdk.Unavailable, "the run was told to stop, and its end cannot be recorded yet: %w", why)
			}
		}
	}
}

// drive takes turns until something ends the loop, and says what. A panic ends
// it too.
func (e *Engine) drive(ctx context.Context, a *activeLoop) (end ending) {
	defer func() {
		if p := recover(); p != nil {
			e.log.Error("a panic ended a loop", "run", a.loop.Run, "loop", a.loop.Sequence, "panic", p, "stack", string(debug.Stack()))
			end = ending{status: sdk.StatusFailed, stop: sdk.StopFailed, reason: fmt.Sprintf("an internal error ended the work: %v", p)}
		}
	}()
	if err := e.load(ctx, a); err != nil {
		return endOf(ctx, err)
	}
	if err := e.prepare(ctx, a); err != nil {
		if a.turn != nil {
			e.settleLeft(ctx, a) // the loop cannot go on, and what its calls came to is known all the same
		}
		return endOf(ctx, err)
	}
	ctx, cancel := e.guards.Within(ctx, a.loop.ID)
	defer cancel()
	if err := e.takeUp(ctx, a); err != nil {
		return endOf(ctx, err)
	}
	e.scanFiles(ctx, a)
	e.cfg.Hooks.LoopStarted.Emit(ctx, sdk.LoopEvent{Project: a.project.ID, Run: a.run.ForHook(), Loop: a.loop.ForHook()})
	for {
		ruling, err := e.turn(ctx, a)
		if err != nil {
			return endOf(ctx, err)
		}
		if !ruling.Continue {
			return a.endPlayed(ending{status: ruling.Status, stop: ruling.Stop, reason: ruling.Reason})
		}
	}
}
