package engine

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bothyd/bothy/daemon/internal/agent/delegate"
	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/daemon/internal/verdict"
	"github.com/bothyd/bothy/sdk"
)

// maxTogether is how many read-only calls run at the same time.
const maxTogether = 8

// dispatch runs what was recorded, in the model's order. One commit holds the
// end of what ran and the start of what runs next. Neighbouring calls of
// read-only tools run together; their ends are recorded together and in order.
// A call that waits for a person holds up what stands behind it.
func (e *Engine) dispatch(ctx context.Context, a *activeLoop) error {
	t := a.turn
	for {
		if running := t.running(); len(running) > 0 {
			e.runTogether(ctx, a, running)
		}
		if err := context.Cause(ctx); err != nil {
			return err // finish or putDown records the ends
		}
		e.askAgain(ctx, a)
		e.giveUpRest(t)
		e.answerRepeated(ctx, a)
		fresh := e.followUps(ctx, a)
		next := e.next(ctx, a)
		over := t.unclosed()
		if len(over)+len(fresh)+len(next) == 0 {
			more, err := e.askPerson(ctx, a)
			if err != nil {
				return err
			}
			if !more {
				break
			}
			continue
		}
		if err := e.step(ctx, a, over, fresh, next); err != nil {
			return err
		}
	}
	if e.draining.Err() != nil && t.unended() {
		return errStopping
	}
	e.cfg.Hooks.TurnDispatched.Emit(ctx, a.turnEvent(nil))
	return context.Cause(ctx)
}

// askPerson proposes the action that is next, or waits for the answer to it; it
// reports whether there was one to do that with.
func (e *Engine) askPerson(ctx context.Context, a *activeLoop) (bool, error) {
	for _, x := range a.turn.queue() {
		switch {
		case x.ended():
		case x.asks():
			return true, e.propose(ctx, a, x)
		case x.waiting():
			return true, e.await(ctx, a, x)
		default:
			return false, nil
		}
	}
	return false, nil
}

// next returns what may start now. Nothing does while the daemon stops, nor
// while what has happened elsewhere cannot be recorded, unless there is nothing
// else to do: then the step waits.
func (e *Engine) next(ctx context.Context, a *activeLoop) []*action {
	t := a.turn
	group := e.apart(ctx, a, e.group(t))
	if e.draining.Err() != nil || e.backlog.Reason() != nil && len(t.unclosed()) > 0 {
		return nil
	}
	return group
}

// step commits the ends of some actions, what their results asked for, and the start of
// others, some of that among them.
func (e *Engine) step(ctx context.Context, a *activeLoop, over, fresh, next []*action) error {
	e.tellInstructions(ctx, a, over)
	begin := slices.Concat(next, which(fresh, func(x *action) bool { return !slices.Contains(next, x) }))
	var begun []sdk.Write
	for i, x := range begin {
		switch {
		case !x.unrecorded():
			begun = append(begun, x.startWrite())
		case i < len(next):
			x.start()
			fallthrough
		default:
			begun = append(begun, x.recordWrite())
		}
	}
	notes, warnings := a.turn.takeNotes(), a.turn.takeWrites()
	u := happened
	if len(over) == 0 {
		u = ahead
	}
	first := 0 // where the ends stand: what a command printed last is told before its end
	receipt, err := e.commitEnds(ctx, u, a, over, func() sdk.Change {
		ends := outputEnds(over)
		first = len(ends)
		for _, x := range over {
			ends = append(ends, x.endWrite())
		}
		return sdk.Change{Run: a.run.ID, Notes: notes, Writes: slices.Concat(ends, begun, outputWrites(next), changeWrites(over), entryWrites(over), warnings), Children: e.marked(a, childrenOf(next), over)}
	})
	if err != nil {
		return fmt.Errorf("record what the calls came to: %w", err)
	}
	failpoint.Hit(failpoint.StepAfter)
	e.childrenBegun(ctx, a, next, receipt.Children)
	e.refreshFiles(ctx, a, over)
	for i, x := range over {
		x.committed(receipt.Entries[first+i])
		e.tellOver(ctx, a, x)
	}
	for i, x := range begin {
		if x.committed(receipt.Entries[first+len(over)+i]); x.closed() { // refused by being recorded
			e.cfg.Hooks.EntryCreated.Emit(ctx, sdk.EntryEvent{Run: a.run.ID, Entry: x.told(x.entry)})
		}
	}
	for _, entry := range receipt.Entries[len(receipt.Entries)-len(warnings):] {
		e.cfg.Hooks.ErrorLog.Emit(ctx, sdk.EntryEvent{Run: a.run.ID, Entry: entry})
	}
	return nil
}

func (e *Engine) tellOver(ctx context.Context, a *activeLoop, x *action) {
	payload := sdk.EntryEvent{Run: a.run.ID, Entry: x.told(x.entry)}
	if x.ran() {
		e.cfg.Hooks.ToolAfter.Emit(ctx, payload)
	}
	e.cfg.Hooks.EntryCreated.Emit(ctx, payload)
	if e.cfg.Hooks.RunState.Active() {
		e.cfg.Hooks.RunState.Emit(ctx, a.turnEvent(map[string]any{"status": sdk.StatusRunning, "path": x.Path}))
	}
}

// running are the actions of the queue whose start is committed and that have no end.
func (t *turn) running() []*action { return which(t.queue(), (*action).running) }

// begun are those of running, and the same of what plugins called.
func (t *turn) begun() []*action { return which(t.all(), (*action).running) }

// which are those of a list for which keep holds: the list itself where it holds for
// all, so nobody may change what it returns.
func which[T any](list []T, keep func(T) bool) []T {
	first := slices.IndexFunc(list, func(x T) bool { return !keep(x) })
	if first < 0 {
		return slices.Clip(list)
	}
	out := append(make([]T, 0, len(list)), list[:first]...)
	for _, x := range list[first+1:] {
		if keep(x) {
			out = append(out, x)
		}
	}
	return out
}

// all are the actions of the turn and those that their plugins called.
func (t *turn) all() []*action {
	return append(t.actions[:len(t.actions):len(t.actions)], t.children.actions...)
}

// unclosed are the actions whose end is not committed yet.
func (t *turn) unclosed() []*action {
	return which(t.all(), func(x *action) bool { return x.ended() && !x.closed() && !x.unrecorded() })
}

// waiting is the first action that has no end, when a person has to decide on
// it and was asked.
func (t *turn) waiting() *action {
	all := t.queue()
	i := slices.IndexFunc(all, func(x *action) bool { return !x.ended() })
	if i < 0 || !all[i].waiting() {
		return nil
	}
	return all[i]
}

// unended reports whether any action has no end.
func (t *turn) unended() bool {
	return slices.ContainsFunc(t.queue(), func(x *action) bool { return !x.ended() })
}

// company is with which neighbours an action may run.
type company int

const (
	alone      company = iota
	readers            // that only read
	writers            // that only touch entries
	delegating         // that give tasks to other agents
)

func (x *action) company() company {
	switch {
	case x.tool.Annotations.Terminal:
		return alone
	case x.touchesEntries():
		return writers
	case x.delegates():
		return delegating
	case x.readOnly():
		return readers
	default:
		return alone
	}
}

// most is how many of them run at the same time; those that touch entries do in one commit.
func (c company) most() int {
	switch c {
	case readers:
		return maxTogether
	case delegating:
		return delegate.Together
	default:
		return math.MaxInt
	}
}

// group returns the actions to run next: one, or neighbours of one company. A
// terminal call in a turn where something failed is refused instead, whichever
// of the two the model wrote first: what it claims would not be true.
func (e *Engine) group(t *turn) []*action {
	var out []*action
	for _, x := range t.queue() {
		switch {
		case x.ended():
			if len(out) > 0 {
				return out
			}
		case x.waiting(), x.asks(), x.Repeats != "":
			return out
		case x.tool.Annotations.Terminal && verdict.Untrue(claims(t.actions), t.reading.Lost):
			x.refuse(verdict.Refusal(x.tool.Name, t.reading.Lost))
			e.giveUpRest(t)
		default:
			kind := x.company()
			if len(out) > 0 && (kind == alone || kind != out[0].company() || len(out) == kind.most()) {
				return out
			}
			if out = append(out, x); kind == alone {
				return out
			}
		}
	}
	return out
}

// giveUpRest ends what must not run any more: what stands behind a side effect
// that failed, and behind an accepted terminal call.
func (e *Engine) giveUpRest(t *turn) {
	var reason error
	failed := false
	for _, x := range t.actions {
		switch {
		case !x.ended() && reason != nil && !(failed && x.updates()):
			x.refuse(reason)
		case reason != nil, x.updates() && x.Outcome == sdk.Aborted: // which a later one replaces
		case x.breaks():
			reason, failed = verdict.GivenUp(x.Tool, x.failure()), !x.turnedDown()
		case x.terminal():
			reason = verdict.GivenUp(x.Tool, "ended the work")
		}
	}
}

// failure says in a word how an action ended that breaks its turn.
func (x *action) failure() string {
	switch {
	case x.rejected():
		return "was rejected by a person"
	case x.Proposal != nil && x.State == sdk.StateCancelled && !x.ran():
		return "was not answered"
	default:
		return "failed"
	}
}

// terminal reports whether the action ended the loop.
func (x *action) terminal() bool {
	return (x.tool.Annotations.Terminal || x.finishes()) && x.State == sdk.StateResolved
}

// sweep gives every action of a turn that is cut short its end, and returns
// those that are still to be committed.
func (t *turn) sweep(end ending) []*action {
	for _, x := range t.all() {
		if x.planned() { // and is not made
			x.reopen()
		}
		if x.moved() {
			x.stay(sdk.Errorf(sdk.Aborted, "the work was ended: %s", end.reason))
		}
		switch {
		case x.ended(), x.unrecorded():
		case x.touchesEntries():
			x.refuse(verdict.WorkEnded(end.reason))
		case x.running():
			x.interrupt()
		default:
			x.refuse(verdict.WorkEnded(end.reason))
		}
	}
	return t.unclosed()
}
