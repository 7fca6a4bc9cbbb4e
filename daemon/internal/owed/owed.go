// Package owed tells plugins of the rests that they have yet to hear of: each plugin of one at a time as soon as it is there,
// and of one that it failed at again later. What is owed stands in the store; it is kept here only when each is due.
package owed

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
)

// When a plugin that failed at a rest is told again: after the first pause, then each time after twice as long.
const (
	firstPause   = time.Minute
	longestPause = time.Hour
)

// Teller tells plugins what they are owed, from Run on.
type Teller struct {
	list  func(context.Context) ([]sdk.OwedRest, error)
	there func(ctx context.Context, plugin string) error
	tell  func(context.Context, sdk.OwedRest) error
	log   hclog.Logger
	more  chan struct{}

	busy   map[string]bool             // the plugins that are being told now, or waited for
	failed map[sdk.OwedRest]*postponed // what is told again later
	ended  chan ended
}

// postponed is a rest that a plugin failed at.
type postponed struct {
	pause time.Duration
	due   time.Time
}

// ended is how telling came out.
type ended struct {
	of  sdk.OwedRest
	err error
}

// New makes a teller. list says what is owed now, oldest first; there waits until a plugin can be told, nil for none; tell tells
// it, and returns nil when it has heard and that is noted. Both are called once at a time for each plugin, and have to return
// soon after their context ends.
func New(list func(context.Context) ([]sdk.OwedRest, error), there func(ctx context.Context, plugin string) error, tell func(context.Context, sdk.OwedRest) error, log hclog.Logger) *Teller {
	return &Teller{
		list: list, there: there, tell: tell, log: log, more: make(chan struct{}, 1),
		failed: map[sdk.OwedRest]*postponed{}, ended: make(chan ended),
	}
}

// More says that more is owed than there was.
func (t *Teller) More() {
	select {
	case t.more <- struct{}{}:
	default: // it is known already
	}
}

// Run tells until ctx ends, and returns when nobody is being told any more. It runs once at a time.
func (t *Teller) Run(ctx context.Context) {
	var telling sync.WaitGroup
	defer telling.Wait()
	t.busy = map[string]bool{}
	for {
		owed, err := t.list(ctx)
		var next <-chan time.Time
		if err != nil {
			t.log.Warn("what plugins are to be told is not known now; it is looked for again in a minute", "error", err)
			next = time.After(firstPause)
		} else if wait := t.begin(ctx, owed, &telling); wait > 0 {
			next = time.After(wait)
		}
		select {
		case <-ctx.Done():
			return
		case <-t.more:
		case <-next:
		case e := <-t.ended:
			delete(t.busy, e.of.Plugin)
			t.took(e)
		}
	}
}

// begin tells each plugin that hears nothing now of the first that is due, and says how long it is until another one
// is; 0 is that none waits for its time.
func (t *Teller) begin(ctx context.Context, owed []sdk.OwedRest, telling *sync.WaitGroup) (wait time.Duration) {
	still := map[sdk.OwedRest]bool{}
	for _, o := range owed {
		still[o] = true
		if t.busy[o.Plugin] {
			continue
		}
		if p := t.failed[o]; p != nil && time.Now().Before(p.due) {
			if left := time.Until(p.due); wait == 0 || left < wait {
				wait = left
			}
			continue
		}
		t.busy[o.Plugin] = true
		telling.Go(func() {
			err := error(nil)
			if t.there != nil {
				err = t.there(ctx, o.Plugin)
			}
			if err == nil {
				err = t.tell(ctx, o)
			}
			select {
			case t.ended <- ended{o, err}:
			case <-ctx.Done():
			}
		})
	}
	for o := range t.failed {
		if !still[o] { // its run is gone
			delete(t.failed, o)
		}
	}
	return wait
}

// took puts off what failed.
func (t *Teller) took(e ended) {
	if e.err == nil {
		delete(t.failed, e.of)
		return
	}
	p := t.failed[e.of]
	if p == nil {
		p = &postponed{pause: firstPause / 2}
		t.failed[e.of] = p
	}
	p.pause = min(2*p.pause, longestPause)
	p.due = time.Now().Add(p.pause)
	t.log.Warn("a plugin did not take that a run rested; it is told again", "plugin", e.of.Plugin, "run", e.of.Run, "in", p.pause.String(), "error", e.err)
}
