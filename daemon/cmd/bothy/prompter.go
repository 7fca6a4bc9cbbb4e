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

// errUnanswered ends a follow when nobody answered in time. The run waits on.
var errUnanswered = errors.New("nobody answered")

// defaultWithin is how long a proposal waits for another client where nobody can
// be asked, unless the daemon's setting is known.
const defaultWithin = 5 * time.Minute

// approver is who answers what a loop proposes.
type approver struct {
	asks   bool           // the person at this terminal
	within *time.Duration // where it does not ask: how long others have; nil is the daemon's setting
}

// prompter is a viewer that sees to it that what a loop proposes is answered:
// on a terminal it asks, elsewhere it shows the proposal, waits for another
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

	at      *timeline.Action //  the one that waits
	waiting *sdk.Proposal    // what it is, where nobody is asked
	leave   func()           // gives it up
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

// look begins with the action that waits now, and gives up what does not wait
// any more.
func (t *prompter) look() {
	if t.at != nil && t.at.State != sdk.StateProposed {
		t.close()
	}
	if t.at != nil {
		return
	}
	if t.at = t.s.Waits(); t.at == nil {
		return
	}
	p, err := t.cl.Proposal(t.ctx, t.at.ProposalID())
	switch {
	case err != nil:
		t.viewer.lost()
		t.c.complain(fmt.Errorf("what the run proposes cannot be shown: %w; `bothy proposals` lists it", err))
		if !t.asks {
			t.limit(sdk.Proposal{ID: t.at.ProposalID(), Alias: t.run, State: sdk.StateProposed})
		}
	case p.State != sdk.StateProposed:
		// It was answered just now: its row comes.
	case t.asks:
		t.viewer.lost() // the question begins on a line of its own
		t.ask(p)
	default:
		t.wait(p)
	}
}

// ask asks on the terminal while the journal is read on: somebody else may be
// faster.
func (t *prompter) ask(p sdk.Proposal) {
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
	t.leave = func() { cancel(errAnswered); <-done; cancel(nil) }
}

// wait shows the proposal and limits how long others may take to answer it.
func (t *prompter) wait(p sdk.Proposal) {
	t.viewer.proposal(p)
	t.limit(p)
}

// limit gives others the time to answer.
func (t *prompter) limit(p sdk.Proposal) {
	within := t.c.answerWithin(t.ctx, t.cl, t.within)
	t.c.say("run %s waits %s for an answer to proposal %s", show.Line(p.Alias), show.Brief(within), show.Line(p.ID))
	timer := time.AfterFunc(within, func() { t.quit(errUnanswered) })
	t.waiting = &p
	t.leave = func() { timer.Stop() }
}

// close gives up what is asked or waited for.
func (t *prompter) close() {
	if t.leave != nil {
		t.leave()
	}
	t.at, t.leave, t.waiting = nil, nil, nil
}

// unanswered is how a loop that waits on is told by who leaves it.
func (t *prompter) unanswered() *sdk.LoopEnd {
	reason := "nobody answered in time, and the run waits on: `bothy proposals accept %[1]s` in a terminal shows it and asks, `bothy proposals reject %[1]s` refuses it"
	return &sdk.LoopEnd{Status: sdk.StatusProposed, Stop: sdk.StopProposal, Reason: fmt.Sprintf(reason, show.Line(t.waiting.ID))}
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
