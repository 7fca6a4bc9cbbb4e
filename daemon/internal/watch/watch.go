// Package watch calls a function when files may have changed. Events of the
// system are only hints: the function finds out what is on disk, and names on
// its way what has to be watched for the next call.
//
//	Watcher    when to check: after events, now and then, when asked
//	Pass       one check, which names what is watched
//	Key        tells whether a file may have another content
//	Notifier   what is needed of fsnotify
package watch

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Config says what a Watcher checks, and when. Check and the durations without
// a remark are required.
type Config struct {
	Log  hclog.Logger
	What string // is watched, in the plural, for the log

	// Check finds out what is on disk. It is called from one goroutine. A
	// positive result means that something may be half written: Check is called
	// again so soon, and who waits for the check waits for that one too.
	Check func(p *Pass) (again time.Duration)

	Quiet   time.Duration // after the last event: editors take several steps
	Longest time.Duration // after the first event, whatever follows it
	Poll    time.Duration // between two checks where watching is impossible
	Every   time.Duration // between two checks in any case: not everything makes an event
	Retry   time.Duration // between two attempts to watch; zero is Poll
	Mounts  time.Duration // between two checks that the same things are at the paths: an unmount makes no event; zero is never

	Open  func() (Notifier, error) // nil is Open
	Stall func()                   // for tests: is called before each event is taken
}

// Watcher calls its Check while Run runs. Its other methods may be called
// concurrently, also from within Check.
type Watcher struct {
	cfg   Config
	hints chan struct{} // filled when something happened
	asked chan struct{} // filled when somebody wants a check now
	ended chan struct{}

	mu       sync.Mutex
	hinted   uint64        // events and requests
	served   uint64        // the ones of them that a finished check covers
	progress chan struct{} // closed whenever served grows
	why      string        // for polling; empty when it watches
	failed   error         // why the notifier is to be given up
	lost     int           // times that the system dropped events
	checks   int

	set *set // nil when it polls; changed by Run alone

	// Of Run alone:
	tried  time.Time // when watching was begun last
	partly bool      // the last check came by what cannot be watched
	places map[string]Identity
}

// New makes a Watcher. It does nothing before Run.
func New(cfg Config) *Watcher {
	if cfg.Open == nil {
		cfg.Open = Open
	}
	if cfg.Stall == nil {
		cfg.Stall = func() {}
	}
	return &Watcher{
		cfg: cfg, hints: make(chan struct{}, 1), asked: make(chan struct{}, 1), ended: make(chan struct{}),
		progress: make(chan struct{}), hinted: 1,
	}
}

// Run checks once, and then whenever it may be needed, until ctx ends. It may be
// called once.
func (w *Watcher) Run(ctx context.Context) {
	defer close(w.ended)
	defer w.stopWatching()
	due := time.NewTimer(0)
	defer due.Stop()
	later := time.NewTimer(w.cfg.Every)
	defer later.Stop()
	var mounts <-chan time.Time
	if w.cfg.Mounts > 0 {
		mounts = time.Tick(w.cfg.Mounts)
	}
	var first time.Time // when what is waited with was hinted at
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-w.hints:
			if first.IsZero() {
				first = time.Now()
			}
			due.Reset(max(0, min(w.cfg.Quiet, w.cfg.Longest-time.Since(first))))
			continue
		case <-mounts:
			if !w.replaced() {
				continue
			}
			w.watchAnew()
		case <-w.asked:
		case <-due.C:
		case <-later.C:
			w.watchAnew()
		}
		if ctx.Err() != nil {
			return
		}
		if first.IsZero() {
			first = time.Now()
		}
		left := w.cfg.Longest - time.Since(first)
		again := w.check(left <= 0)
		switch {
		case again <= 0:
			first = time.Time{}
		case left <= 0:
			first = time.Time{}
			due.Reset(again)
		default:
			due.Reset(min(again, left))
		}
		later.Reset(w.pause())
	}
}

func (w *Watcher) pause() time.Duration {
	if w.set == nil || w.partly {
		return w.cfg.Poll
	}
	return w.cfg.Every
}

// check calls Check, and tells who waits when it is done.
func (w *Watcher) check(last bool) (again time.Duration) {
	w.beginWatching()
	w.mu.Lock()
	covers := w.hinted
	w.checks++
	w.mu.Unlock()
	p := &Pass{Last: last, set: w.set, places: map[string]Identity{}}
	p.begin()
	again = w.cfg.Check(p)
	p.end()
	w.partly, w.places = p.partly, p.places
	w.settle()
	if again > 0 && !last {
		return again
	}
	w.mu.Lock()
	w.served = covers
	close(w.progress)
	w.progress = make(chan struct{})
	w.mu.Unlock()
	if p.After != nil {
		p.After()
	}
	return again
}

// hint says that something may have changed.
func (w *Watcher) hint() {
	w.mu.Lock()
	w.hinted++
	w.mu.Unlock()
	fill(w.hints)
}

// Ask asks for a check now, without waiting for events to end, and returns at
// once.
func (w *Watcher) Ask() { w.request() }

// request asks for a check, and returns how many hints that will cover.
func (w *Watcher) request() uint64 {
	w.mu.Lock()
	w.hinted++
	want := w.hinted
	w.mu.Unlock()
	fill(w.asked)
	return want
}

func fill(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is full: Run will see it
	}
}

// CheckNow asks for a check and waits until it is done. After Run it returns at
// once.
func (w *Watcher) CheckNow(ctx context.Context) error { return w.await(ctx, w.request(), nil) }

// First waits until the first check is done.
func (w *Watcher) First(ctx context.Context) error { return w.await(ctx, 1, nil) }

// CatchUp waits until all that is known to have happened is checked: for the
// first check as long as it takes, for what happened later no longer than
// patience.
func (w *Watcher) CatchUp(ctx context.Context, patience time.Duration) error {
	if err := w.First(ctx); err != nil {
		return err
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	w.mu.Lock()
	want := w.hinted
	w.mu.Unlock()
	return w.await(ctx, want, late.C)
}

// await waits until so many hints are covered.
func (w *Watcher) await(ctx context.Context, want uint64, late <-chan time.Time) error {
	for {
		w.mu.Lock()
		served, progress := w.served, w.progress
		w.mu.Unlock()
		if served >= want {
			return nil
		}
		select {
		case <-progress:
		case <-late:
			return nil
		case <-w.ended:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Polling says why files are checked again and again instead of being watched;
// it is empty when they are watched.
func (w *Watcher) Polling() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.why
}

// Stats are counts for tests and diagnosis.
type Stats struct {
	Checks  int // calls of Check
	Lost    int // times that the system dropped events
	Folders int // that are watched
}

// Stats returns the counts so far.
func (w *Watcher) Stats() Stats {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := Stats{Checks: w.checks, Lost: w.lost}
	if w.set != nil {
		s.Folders = w.set.size()
	}
	return s
}
