package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

// viewer shows a loop while it is followed.
type viewer interface {
	row(row sdk.JournalRow, c timeline.Change)
	below(row sdk.JournalRow, chain []timeline.Call, c timeline.Change) // of work that the loop delegated
	preview(p rpc.Preview)
	proposal(p sdk.Proposal) // waits, and nobody is asked here
	lost()                   // something else will be said: the daemon is gone, or there is a question
}

// errDetached says that the person left and the loop goes on.
var errDetached = errors.New("detached")

// follow reads the journal until the loop has ended, from one daemon or, when
// that dies, from the next. What it proposes is asked about, or waits for others. The first Ctrl-C aborts the loop and waits for its
// end, the second one leaves. A prompt that still waits behind others is left
// at the first: what works then is not its own.
func (c *console) follow(ctx context.Context, cl *client.Client, accepted rpc.Accepted, s *loopState, v viewer, who approver, pressed *presses) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t := &prompter{viewer: v, approver: who, c: c, cl: cl, s: s, run: accepted.Run, ctx: ctx, quit: cancel}
	done := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		c.watchInterrupts(ctx, cl, accepted, s, pressed, cancel, done)
	}()
	back := &reconnect{Reviver: start.Reviver{Daemon: c.daemon(), Died: v.lost}, run: accepted.Run}
	watch := client.Watch{Run: accepted.ID, After: accepted.Seq, Children: true, Preview: true, Attend: who.asks, Retry: start.GreetTime, Lost: back.lost}
	err := cl.Follow(ctx, watch, func(e client.Event) error {
		if e.Preview != nil {
			v.preview(*e.Preview)
			return nil
		}
		back.Heard()
		if e.Row.Run == accepted.ID && (e.Row.Loop == 0 || e.Row.Loop == s.ID) { // it may be the loop's; take knows it for sure
			if err := cl.Complete(ctx, e.Row); err != nil {
				return err
			}
		}
		if change, own := s.take(*e.Row); own {
			t.row(*e.Row, change)
		} else if chain, came := s.chain(change); came {
			t.below(*e.Row, chain, change)
		}
		if s.End != nil {
			return client.ErrDone
		}
		return nil
	})
	close(done)
	<-watched
	if end, waits, late := t.unanswered(); late && s.End == nil {
		s.End, s.waiting, err = end, waits, nil
	}
	t.close()
	switch {
	case errors.Is(context.Cause(ctx), errDetached):
		return exitError{exitAborted, fmt.Errorf("left run %s; `bothy runs show %s` tells how it ended", accepted.Run, accepted.Run)}
	case errors.Is(err, client.ErrDisconnected), start.IsDown(err):
		return exitError{exitStopped, fmt.Errorf("%w; `bothy runs show %s` tells what became of the run", err, accepted.Run)}
	default:
		return err
	}
}

// watchInterrupts handles Ctrl-C until done is closed.
func (c *console) watchInterrupts(ctx context.Context, cl *client.Client, accepted rpc.Accepted, s *loopState, presses *presses, detach context.CancelCauseFunc, done <-chan struct{}) {
	for pressed := 0; ; pressed++ {
		if pressed >= presses.before {
			select {
			case <-done:
				return
			case <-presses.from:
			}
		}
		waits := accepted.Ahead > 0 && !s.started.Load()
		if waits {
			c.say("\nthe prompt stays in the queue of run %s, and is worked on when its turn comes", show.Line(accepted.Run))
		}
		if pressed > 0 || waits {
			detach(errDetached)
			return
		}
		c.say("\naborting run %s; press Ctrl-C again to leave it", show.Line(accepted.Run))
		abort, cancel := context.WithTimeout(ctx, 10*time.Second)
		_, err := cl.Abort(abort, rpc.RunRef{Run: strconv.FormatInt(accepted.ID, 10)})
		cancel()
		if err != nil {
			c.complain(fmt.Errorf("the run could not be aborted: %w", err))
		}
	}
}
