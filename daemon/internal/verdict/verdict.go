// Package verdict rules what a turn means for its loop, and what an answer may claim: the engine's own ruling, before any
// filter of turn.verdict is asked (ADR 132). It is pure: what a turn did goes in, a ruling or a sentence comes out.
package verdict

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// MostPlain is how often in a row an agent that has to hand a result over may answer in plain text instead before its
// loop ends.
const MostPlain = 3

// Call is a call of the model's, as its turn is ruled upon.
type Call struct {
	sdk.Action
	Name   string // of its tool
	Update bool   // it is the verb update
	Ends   int    // the status with which it ends its loop where it is accepted; 0 is that it ends none
}

// ended reports whether the call ended the loop.
func (c Call) ended() bool { return c.Ends != 0 && c.State == sdk.StateResolved }

// Acts are the calls of an answer that do something: all but thoughts. Models that reason in their text write a thought and
// then their answer, which is as plain as one without. A thought that failed took something along, and is no mere thought.
func Acts(calls []Call) []Call {
	return slices.DeleteFunc(slices.Clone(calls), func(c Call) bool {
		return c.Name == sdk.ToolThink && c.State != sdk.StateFailed
	})
}

// Turn is what a turn did, when all its calls have ended.
type Turn struct {
	Calls      []Call // in the model's order
	Completion sdk.Completion
	Errors     []sdk.Entry // failures that belong to no call
	// Owes says that the agent has to hand a result over, and Plain how many answers in plain text were before this one.
	Owes  bool
	Plain int
}

// Of is what the turn means.
func Of(t Turn) sdk.Ruling {
	for _, c := range t.Calls {
		if c.ended() {
			r := sdk.Ruling{Status: c.Ends, Stop: sdk.StopTerminal, Reason: c.Name + " ended the work"}
			if c.Ends == sdk.StatusUnable {
				r.Reason += ", which cannot be done"
			}
			return r
		}
		if c.Rejected() && c.State.Ended() && c.State != sdk.StateResolved && c.Answer.Reason == "" { // with one the model goes on by it
			return sdk.Ruling{Status: sdk.StatusOK, Stop: sdk.StopRejected, Reason: "a person rejected " + c.Name}
		}
	}
	if len(t.Calls) > 0 || Warned(t.Errors) {
		return GoesOn
	}
	r := answered(t.Completion)
	switch {
	case !t.Owes || r.Stop != sdk.StopAnswer:
		return r
	case t.Plain+1 < MostPlain:
		return GoesOn
	}
	return sdk.Ruling{Status: sdk.StatusAborted, Stop: sdk.StopNotFinished, Reason: fmt.Sprintf("the model answered in plain text %d times in a row, and did not hand its result over by %s", MostPlain, sdk.ToolFinish)}
}

// GoesOn is the ruling of a turn after which another one comes.
var GoesOn = sdk.Ruling{Continue: true, Status: sdk.StatusRunning}

// answered is what an answer without calls means.
func answered(c sdk.Completion) sdk.Ruling {
	switch {
	case c.Finish == "length":
		return Failed("the answer was cut off: it reached the longest that the model or max_tokens allows")
	case c.Finish == "filter":
		return Failed("the provider's content filter ended the answer")
	case c.Finish == "calls":
		return Failed("the model said that it calls tools, and sent no call")
	case c.Text == "":
		return sdk.Ruling{Status: sdk.StatusNoContent, Stop: sdk.StopAnswer, Reason: "the model ended its work without a word"}
	default:
		return sdk.Ruling{Status: sdk.StatusOK, Stop: sdk.StopAnswer, Reason: "the model answered"}
	}
}

// Warned reports whether the model is told of a mistake in the answer itself, so that the answer ends nothing and is no
// answer in plain text: by the dialect, or by Remarks.
func Warned(errors []sdk.Entry) bool {
	return slices.ContainsFunc(errors, func(e sdk.Entry) bool {
		path, is := sdk.ParseActionPath(e.Path)
		return is && path.IsDialect()
	})
}

// Stopped is a ruling by which a filter of turn.verdict ends a loop, with the reason and the word that it left out.
func Stopped(r sdk.Ruling) (sdk.Ruling, error) {
	switch r.Status {
	case sdk.StatusOK, sdk.StatusNoContent, sdk.StatusOverflow, sdk.StatusUnable, sdk.StatusAborted, sdk.StatusFailed:
	default:
		return sdk.Ruling{}, fmt.Errorf("a hook of turn.verdict ended the loop with the status %d, which no loop can have", r.Status)
	}
	r.Stop = cmp.Or(r.Stop, sdk.StopFailed)
	r.Reason = cmp.Or(r.Reason, "a hook of turn.verdict ended the work and gave no reason")
	return r, nil
}

// Failed is the ruling of work that cannot go on.
func Failed(reason string) sdk.Ruling {
	return sdk.Ruling{Status: sdk.StatusFailed, Stop: sdk.StopFailed, Reason: reason}
}

// Untrue reports whether a call of a turn failed by itself or was turned down, or one was lost, so that no claim of success
// beside it is accepted: an exit status counts too, for the claim is of the work. What was not made because of another one does not.
func Untrue(calls []Call, lost bool) bool {
	return lost || slices.ContainsFunc(calls, func(c Call) bool {
		return c.State == sdk.StateCancelled || c.State == sdk.StateFailed && !c.givenUp()
	})
}

// givenUp reports whether the call was not made because of something else: it has a reason then (GivenUp). One that was made, and of
// which its tool says that it was aborted, failed.
func (c Call) givenUp() bool { return c.Outcome == sdk.Aborted && c.Reason != "" }

// Refusal is why a claim is not accepted that all is done, or that it cannot be.
func Refusal(tool string, lost bool) error {
	if lost {
		return sdk.Errorf(sdk.Conflict, "%s was not accepted: a call in the same answer could not be taken", tool).Tell(
			fmt.Sprintf("not accepted: make the call first that could not be taken in the same answer, and call %s then", tool))
	}
	return sdk.Errorf(sdk.Conflict, "%s was not accepted: another action in the same answer failed", tool).Tell(
		fmt.Sprintf("not accepted: look at what failed in the same answer first, and call %s then", tool))
}

// Replaced are the places of updates that would end the loop and that a later update of the answer replaces, since of
// several the last one counts.
func Replaced(calls []Call) (places []int) {
	last := lastUpdate(calls)
	for i, c := range calls[:max(last, 0)] {
		if c.Update && c.Ends != 0 {
			places = append(places, i)
		}
	}
	return places
}

// lastUpdate is the place of an answer's last update; -1 is that it has none.
func lastUpdate(calls []Call) int {
	for i, c := range slices.Backward(calls) {
		if c.Update {
			return i
		}
	}
	return -1
}

// ErrReplaced is why an update is not made that a later one of the answer replaces.
var ErrReplaced = sdk.Errorf(sdk.Aborted, "this update was not made: a later one of the same answer replaces it").Tell("not made: a later update of the same answer replaces it")

// GivenUp is why a call was not made that stood behind one of a tool, by the name that the model wrote.
func GivenUp(tool, did string) error {
	return sdk.Errorf(sdk.Aborted, "this call was not made because %.80s, before it, %s", tool, did).Tell(
		fmt.Sprintf("not made: look at what became of %.80s first, and make this call again if it is still needed", tool))
}

// Unread is why a call was not made that stood behind what may have been meant as one and could not be read as one.
func Unread(what string) error {
	return sdk.Errorf(sdk.Aborted, "this call was not made because no call could be made of %.80s, before it", what).Tell(
		fmt.Sprintf("not made: no call could be made of %.80s, before it. If that was meant as one, write it again; then make this call again", what))
}

// WorkEnded is why a call was not made when its work was ended.
func WorkEnded(reason string) error {
	return sdk.Errorf(sdk.Aborted, "this call was not made because the work was ended: %s", reason).Tell("not made: make this call again if it is still needed")
}
