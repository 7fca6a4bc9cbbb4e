package main

import (
	"context"
	"sync"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// live hears what runs do, and wakes who brings their answers. It keeps nothing that counts: what is committed is read
// from the journal by whoever is woken.
type live struct {
	mu      sync.Mutex
	drafts  map[int64]*draft // by loop: what its model is writing
	waiting map[int64]chan struct{}
}

// draft is an answer that is being written.
type draft struct {
	turn int
	text string
}

// mostDraft bounds what is kept of an answer that is being written, in bytes. More than a message is not shown of it, and all
// of it comes with the journal.
const mostDraft = 16 << 10

func newLive() *live { return &live{drafts: map[int64]*draft{}, waiting: map[int64]chan struct{}{}} }

// follow hears what comes behind a place in the journal, until ctx ends or the daemon is lost. It begins while others read
// already: a place before theirs has it miss nothing.
func (l *live) follow(ctx context.Context, d daemon, project string, since int64) error {
	return d.Follow(ctx, client.Watch{Project: project, After: since, Preview: true}, func(e client.Event) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if e.Row != nil {
			if l.waiting[e.Row.Run] != nil {
				l.wake(e.Row.Run)
				return nil
			}
			for run := range l.waiting { // it may be of work that one of them delegated
				l.wake(run)
			}
			return nil
		}
		p := e.Preview
		if l.waiting[p.Run] == nil {
			return nil // nobody waits for an answer of this run
		}
		l.write(p)
		l.wake(p.Run)
		return nil
	})
}

func (l *live) write(p *rpc.Preview) {
	d := l.drafts[p.Loop]
	if d == nil {
		d = &draft{}
		l.drafts[p.Loop] = d
	}
	if p.Turn != d.turn || p.First || p.Whole || p.Restart || p.Dropped {
		d.turn, d.text = p.Turn, ""
	}
	if d.text += p.Text; len(d.text) > mostDraft {
		d.text = d.text[len(d.text)-mostDraft:]
	}
}

// look has whoever waits for a run look at it again.
func (l *live) look(run int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wake(run)
}

func (l *live) wake(run int64) {
	if c := l.waiting[run]; c != nil {
		select {
		case c <- struct{}{}:
		default: // it is awake
		}
	}
}

// await is where a signal comes when something happens in a run; end ends that. One waits for a run at a time.
func (l *live) await(run, loop int64) (signal <-chan struct{}, end func()) {
	c := make(chan struct{}, 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting[run] = c
	return c, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.waiting, run)
		delete(l.drafts, loop)
	}
}

// draft is what the model of a loop is writing.
func (l *live) draft(loop int64) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d := l.drafts[loop]; d != nil {
		return d.text
	}
	return ""
}
