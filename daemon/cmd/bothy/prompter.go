package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

// unansweredError ends a follow when nobody answered in time. The run waits on.
type unansweredError struct{ proposal sdk.Proposal }

func (unansweredError) Error() string { return "nobody answered" }

// defaultWithin is how long a proposal waits for another client where nobody can
// be asked, unless the daemon's setting is known.
const defaultWithin = 5 * time.Minute

// approver is who answers what a loop proposes.
type approver struct {
	asks   bool           // the person at this terminal
	within *time.Duration // where it does not ask: how long others have; nil is the daemon's setting
}

// prompter is a viewer that sees to it that what a loop proposes is answered, and what several children of it propose at
// the same time: on a terminal it asks, one question after the other; elsewhere it shows each proposal, waits for another
// client, and gives up in time. It never reads anything but a terminal.
type prompter struct {
	viewer
	approver
	c    *console
	cl   *client.Client
	s    *loopState
	run  string // alias
	ctx  context.Context
	quit context.CancelCauseFunc

	open map[*timeline.Action]*opened // what waits, and was begun with
}

// opened is a proposal that is asked about, or waits for others. Its zero value is one that could not be shown.
type opened struct {
	done  <-chan struct{} // closed when the person is not asked any more
	leave func()          // gives it up
}

// asking reports whether the person is asked about it now.
func (o *opened) asking() bool {
	select {
	case <-o.done:
		return false
	default:
		return o.done != nil
	}
}

// row implements viewer.
func (t *prompter) row(row sdk.JournalRow, c timeline.Change) {
	t.viewer.row(row, c)
	t.look()
}

// below implements viewer.
func (t *prompter) below(row sdk.JournalRow, chain []timeline.Call, c timeline.Change) {
	t.viewer.below(row, chain, c)
	t.look()
}

// look begins with the actions that wait now, as far as there may be several, and gives up those that do not wait any
// more.
func (t *prompter) look() {
	busy := false
	for a, o := range t.open {
		if a.State != sdk.StateProposed {
			o.close()
			delete(t.open, a)
		}
		busy = busy || t.open[a] != nil && o.asking()
	}
	for _, a := range t.s.Waiting() {
		if t.open[a] != nil || busy {
			continue
		}
		if t.open == nil {
			t.open = map[*timeline.Action]*opened{}
		}
		t.open[a] = t.begin(a)
		busy = t.open[a].asking()
	}
}

// begin asks about an action that waits, or tells of it.
func (t *prompter) begin(a *timeline.Action) *opened {
	p, err := t.cl.Proposal(t.ctx, a.ProposalID())
	switch {
	case err != nil:
		t.viewer.lost()
		t.c.complain(fmt.Errorf("what the run proposes cannot be shown: %w; `bothy proposals` lists it", err))
		if !t.asks {
			return t.limit(sdk.Proposal{ID: a.ProposalID(), Alias: t.run, State: sdk.StateProposed})
		}
	case p.State != sdk.StateProposed:
		// It was answered just now: its row comes.
	case t.asks:
		t.viewer.lost() // the question begins on a line of its own
		return t.ask(p)
	default:
		t.viewer.proposal(p)
		return t.limit(p)
	}
	return &opened{}
}

// ask asks on the terminal while the journal is read on: somebody else may be
// faster.
func (t *prompter) ask(p sdk.Proposal) *opened {
	ctx, cancel := context.WithCancelCause(t.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := (&asker{c: t.c, cl: t.cl}).ask(ctx, p)
		switch {
		case errors.Is(err, errAnswered):
			t.c.say("  %v", err)
		case err != nil && ctx.Err() == nil:
			t.c.complain(fmt.Errorf("%w; the run waits: `bothy proposals accept %s` answers it", err, p.ID))
		}
	}()
	return &opened{done, func() { cancel(errAnswered); <-done; cancel(nil) }}
}

// limit gives others the time to answer.
func (t *prompter) limit(p sdk.Proposal) *opened {
	within := t.c.answerWithin(t.ctx, t.cl, t.within)
	t.c.say("run %s waits %s for an answer to proposal %s", show.Line(p.Alias), show.Brief(within), show.Line(p.ID))
	timer := time.AfterFunc(within, func() { t.quit(unansweredError{p}) })
	return &opened{leave: func() { timer.Stop() }}
}

func (o *opened) close() {
	if o.leave != nil {
		o.leave()
	}
}

// close gives up what is asked or waited for.
func (t *prompter) close() {
	for _, o := range t.open {
		o.close()
	}
	t.open = nil
}

// unanswered is how a loop that waits on is told by who leaves it, and for what it waits; false where somebody did answer.
func (t *prompter) unanswered() (*sdk.LoopEnd, *sdk.Proposal, bool) {
	var late unansweredError
	if !errors.As(context.Cause(t.ctx), &late) {
		return nil, nil, false
	}
	for a := range t.open {
		if a.ProposalID() == late.proposal.ID {
			reason := "nobody answered in time, and the run waits on: `bothy proposals accept %[1]s` in a terminal shows it and asks, `bothy proposals reject %[1]s` refuses it"
			return &sdk.LoopEnd{Status: sdk.StatusProposed, Stop: sdk.StopProposal, Reason: fmt.Sprintf(reason, show.Line(late.proposal.ID))}, &late.proposal, true
		}
	}
	return nil, nil, false
}

// answerWithin is how long others have to answer: what was asked for, else the
// daemon's setting.
func (c *console) answerWithin(ctx context.Context, cl *client.Client, asked *time.Duration) time.Duration {
	if asked != nil {
		return *asked
	}
	settings, err := cl.Settings(ctx)
	if err != nil {
		return defaultWithin
	}
	return settingTime(settings, "policy.answer_within", defaultWithin)
}

// settingTime reads a time from the configuration in force.
func settingTime(settings []rpc.Setting, name string, otherwise time.Duration) time.Duration {
	for _, s := range settings {
		if d, err := time.ParseDuration(s.Value); s.Name == name && err == nil {
			return d
		}
	}
	return otherwise
}
