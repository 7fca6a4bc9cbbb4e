package engine

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// The states of an action are those of its entry: a phase, and how it ended. In
// memory it is one step ahead of the store at most, and a transition that is not
// in this table changes nothing.
//
//	from                 by         to                   written by
//	(new)                start      started              recordWrite
//	(new)                refuse     ended, failed        recordWrite
//	(new)                committed  recorded             recordWrite
//	recorded             committed  proposed             proposeWrite
//	recorded, approved   committed  started              startWrite
//	recorded, approved,
//	proposed             refuse     ended, failed        endWrite
//	proposed             follow     approved, or ended   an answer, or the expiry
//	started              conclude   ended                endWrite
//	started              interrupt  ended, failed        endWrite
//	started              refuse     ended, failed        endWrite
//	ended, and planned   reopen     started              nothing
//	ended                committed  ended                nothing, ever
//
// Proposed is the phase recorded with the state proposed. An end of this daemon
// has a cause; the cause of one that was in the store already is what the store
// tells (turnedDown).

// cause is why this daemon gave an action its end.
type cause int

const (
	elsewhere cause = iota // it has no end, or not from here
	refused                // the call was not made
	withdrawn              // its start was committed, and the call was not made all the same
	concluded              // the call came to this
	unknown                // the call was made, and nothing tells what it did
)

// ended reports whether the action has its end, committed or not.
func (x *action) ended() bool { return x.State.Ended() }

// closed reports whether its end is committed.
func (x *action) closed() bool { return x.entry.Phase == sdk.PhaseEnded }

// failed reports whether it ended and not well.
func (x *action) failed() bool { return x.ended() && x.State != sdk.StateResolved }

// running reports whether its start is committed, or about to be, and it has no end.
func (x *action) running() bool { return !x.ended() && x.Phase == sdk.PhaseStarted }

// ran reports whether it was started before this daemon gave it its end.
func (x *action) ran() bool { return x.cause >= withdrawn }

// rejected reports whether a person said no to it.
func (x *action) rejected() bool { return x.Rejected() && x.failed() }

// waiting reports whether a person has to decide first.
func (x *action) waiting() bool { return x.State == sdk.StateProposed }

// agreed reports whether a person agreed to it as it is.
func (x *action) agreed() bool { return x.Phase == sdk.PhaseApproved && x.Proposal != nil }

// asks reports whether a person has to be asked before the action may start,
// and was not yet.
func (x *action) asks() bool {
	return !x.ended() && !x.running() && !x.waiting() && !x.agreed() && x.decision().Verdict == sdk.Propose
}

// turnedDown reports whether somebody said no, as opposed to what went wrong: a
// guard or a filter that cancelled it, a person, a hook that vetoed the answer, or
// nobody in time. What ended by an answer never ran and has no duration.
func (x *action) turnedDown() bool {
	return x.State == sdk.StateCancelled || x.cause == elsewhere && x.Answer != nil && x.DurationMS == nil
}

// decision is the newest; its zero value before there is any.
func (x *action) decision() sdk.Decision {
	switch {
	case x.anew != nil:
		return *x.anew
	case x.Decision != nil:
		return *x.Decision
	default:
		return sdk.Decision{}
	}
}

// decide takes over a decision. One upon what is recorded is part of the next
// write; what a person approved keeps the decision that was shown.
func (x *action) decide(d sdk.Decision) {
	if x.entry.Phase == sdk.PhaseRecorded {
		x.anew = &d
	} else {
		x.Decision = &d
	}
}

// start makes the start part of the action's first write.
func (x *action) start() {
	if x.Phase == sdk.PhaseNone {
		x.State, x.Phase = sdk.StateStreaming, sdk.PhaseStarted
	}
}

// refuse ends an action of which nothing runs: err is the reason for people, and
// tells the model what to do instead. One that has its end keeps that.
func (x *action) refuse(err error) {
	if x.ended() {
		return
	}
	why := refused
	if x.running() {
		why = withdrawn
	}
	r := sdk.Failed(err)
	if told := sdk.Told(err); told != r.Error {
		x.Reason, r.Output, r.Error = strings.ToValidUTF8(r.Error, "\uFFFD"), told, told
	}
	r.Output, r.Error = strings.ToValidUTF8(r.Output, "\uFFFD"), strings.ToValidUTF8(r.Error, "\uFFFD")
	x.end(why, sdk.StateFailed, r)
}

// interrupt ends an action that was begun and of which nobody knows more. Its
// output so far is kept.
func (x *action) interrupt() {
	const lost = "the daemon ended while this call ran, so what it did is unknown; look before you make it again"
	if !x.running() {
		return
	}
	r := sdk.ToolResult{Output: lost, Error: lost, Outcome: sdk.Interrupted}
	if x.entry.Body != "" {
		r.Output = x.entry.Body + "\n\n" + lost
	}
	x.end(unknown, sdk.StateFailed, r)
}

// conclude takes over what a call came to, after so long. why is concluded or
// unknown.
func (x *action) conclude(why cause, r sdk.ToolResult, took time.Duration) {
	if !x.running() {
		return
	}
	x.took = took
	if r.Success {
		x.end(why, sdk.StateResolved, r)
	} else {
		x.end(why, sdk.StateFailed, r)
	}
}

// planned reports whether it was concluded by a plan that nothing has made true yet.
func (x *action) planned() bool {
	return x.touchesEntries() && x.cause == concluded && !x.closed()
}

// reopen takes back the end of a call, which is not committed: it runs again.
func (x *action) reopen() {
	x.cause, x.State, x.Phase, x.Outcome, x.Body, x.result = elsewhere, sdk.StateStreaming, sdk.PhaseStarted, "", "", sdk.ToolResult{}
}

// end is the end of an action; a failure has an outcome and a body.
func (x *action) end(why cause, state sdk.State, r sdk.ToolResult) {
	if x.ended() {
		return
	}
	x.cause, x.State, x.Phase, x.result = why, state, sdk.PhaseEnded, r
	x.Body = strings.ToValidUTF8(r.Output, "\uFFFD")
	if state == sdk.StateResolved {
		return
	}
	x.Outcome = cmp.Or(r.Outcome, sdk.Internal)
	if x.Body == "" {
		x.Body = strings.ToValidUTF8(r.Error, "\uFFFD")
	}
}

// cancel makes of a failure that is not committed yet one that somebody wanted.
func (x *action) cancel(outcome sdk.Outcome) {
	if x.failed() && !x.closed() {
		x.State, x.Outcome = sdk.StateCancelled, outcome
	}
}

// committed takes note of the entry as a commit of this action left it.
func (x *action) committed(entry sdk.Entry) {
	x.entry, x.State, x.Phase = entry, entry.State, entry.Phase
	if x.anew != nil {
		x.Decision, x.anew = x.anew, nil
	}
}

// leftAction is an action as the store holds it: whatever daemon wrote it, its
// state is that of its entry. Its tool is found by who needs it.
func leftAction(c leftCall, project, folder string) *action {
	x := &action{Action: c.at, entry: c.entry, fault: c.fault, project: project, folder: folder, recheck: true}
	x.call = sdk.ReadCall{ID: x.CallID, Tool: x.Tool}
	x.Arguments = x.ExactArguments()
	return x
}

// follow takes over what somebody else wrote of the action. An end that is given
// here and not committed stays until the store holds another.
func (x *action) follow(entry sdk.Entry) {
	x.entry = entry
	at, err := sdk.ActionOf(entry)
	if err == nil {
		x.Decision, x.Answer, x.DurationMS = at.Decision, at.Answer, at.DurationMS
		// What is kept of the same proposal may lack secrets, which the hash was made of.
		if x.Proposal == nil || at.Proposal == nil || x.Proposal.Hash != at.Proposal.Hash {
			x.Proposal = at.Proposal
			if at.Changed != "" {
				x.use(json.RawMessage(at.Changed))
			}
		}
	}
	if entry.State.Ended() || !x.ended() {
		x.State, x.Outcome, x.Phase, x.Body, x.cause = entry.State, entry.Outcome, entry.Phase, entry.Body, elsewhere
	}
}

func (x *action) place() (path, parent string) { return x.Path, x.Parent }
