package verdict

import (
	"fmt"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/guard"
	"github.com/bothyd/bothy/sdk"
)

// Answer is an answer in the dialect tags, of an agent that is offered update. Its calls have been read and not made.
type Answer struct {
	Calls  []Call
	Text   string      // outside of the calls
	Finish string      // of the completion
	Warned bool        // the dialect had something to say of it
	Owes   bool        // the agent has to hand a result over
	Before []sdk.Entry // of the run
	Loop   int64
}

// Remarks are what the model is told of the answer as a whole. Each makes the turn a strike, and the loop go on where it had
// ended: with calls and no update, without a word, or in plain text when the last calls of the loop failed.
func Remarks(a Answer) []string {
	for _, c := range a.Calls {
		if c.Update || c.Ends != 0 {
			return nil
		}
	}
	blank := strings.TrimSpace(a.Text) == ""
	switch {
	case len(Acts(a.Calls)) > 0, len(a.Calls) > 0 && (blank || a.Owes):
		return []string{"This answer had no update. End each answer with one: " + `<update status="102">what was done and what is next</update>, or the status 200 with the answer when all is done.`}
	case a.Warned || a.Owes, a.Finish == "length", a.Finish == "filter":
		return nil // something was said, or will be
	case blank:
		return []string{"This answer was empty. Make the next calls, or end the work by " + `<update status="200">the answer</update>.`}
	case lastFailed(a.Before, a.Loop):
		return []string{"This answer does not end the work, since a call failed before it. Look at what failed, and then end the work by " +
			`<update status="200">the answer</update>, or the status 422 when it cannot be done.`}
	}
	return nil
}

// lastFailed reports whether of the last turn of a loop that had calls, thoughts apart, one failed, as guards have it.
func lastFailed(entries []sdk.Entry, loop int64) bool {
	last := 0
	turnOf := func(e *sdk.Entry) int {
		path, is := sdk.ParseActionPath(e.Path)
		if e.Loop != loop || e.Phase == sdk.PhaseNone || !is || path.Tool == sdk.ToolThink {
			return 0
		}
		return path.Turn
	}
	for i := range entries {
		last = max(last, turnOf(&entries[i]))
	}
	for i := range entries {
		if e := &entries[i]; last > 0 && turnOf(e) == last {
			a, _ := sdk.ActionOf(*e) // what can be read of it is enough
			if a.Parent == "" && !a.Live && !a.Asks && guard.Failed(a) {
				return true
			}
		}
	}
	return false
}

// Correction is what a model is told whose answer in plain text does not end its work, since it owes a result: the n-th
// such answer in a row. In the last turn of a team it has no other tool.
func Correction(n int, team bool) string {
	rest, before := " What is still to be done, do first.", ", or the tool that you need before"
	if team {
		rest, before = " It says what your team came to, and you have no other tool.", ", the only tool that you have"
	}
	if n+1 == MostPlain {
		return fmt.Sprintf("An answer in plain text does not end this work, and the next one gives it up as not finished: call %s with its result%s.", sdk.ToolFinish, before)
	}
	return fmt.Sprintf("This work does not end by an answer in plain text: call %s with its result.%s", sdk.ToolFinish, rest)
}
