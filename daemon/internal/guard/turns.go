package guard

import (
	"cmp"
	"fmt"

	"github.com/bothyd/bothy/sdk"
)

// failures stops a model whose calls fail one after the other, over turns and
// tools. Of one answer only one counts in a row, for the model was not told before it
// wrote the others. What was given up because of something else, interrupted, or is to be
// made again, counts neither as a failure nor as a success.
type failures struct {
	limit int
	row   int    // failures in a row
	worst int    // the longest such row of the last turn
	last  string // what the last one came to
}

func (g *failures) take(t *judged) {
	g.worst = 0
	told := true // of the last failure
	for _, a := range t.counted {
		switch {
		case !Failed(a):
			if a.State == sdk.StateResolved || exited(a) {
				g.row, told = 0, true
			}
		default:
			if told {
				g.row++
			}
			told = false
			g.worst, g.last = max(g.worst, g.row), cmp.Or(a.Reason, a.Body)
		}
	}
}

func (g *failures) stop() (string, string) {
	if g.worst < g.limit {
		return "", ""
	}
	return consecutiveErrors, fmt.Sprintf("%d calls in a row failed, so the model was stopped (guard consecutive_errors); the last one: %s", g.worst, sdk.Excerpt(g.last))
}

// Failed reports whether the call failed by itself, as guards and strikes have it. A command that ended with a
// status has told something: it did not fail. Neither did a call by a name that a tool or
// an argument has elsewhere: the answer says all that it takes. What a person rejected
// and gave a reason for is not the model's failure.
func Failed(a sdk.Action) bool {
	return a.State == sdk.StateFailed && a.Outcome != sdk.Misnamed && !a.Rejected() && !excused(a) && !givenUp(a) && !exited(a)
}

// exited reports whether a command came to its end and said how by its status.
func exited(a sdk.Action) bool {
	_, is := a.Outcome.ExitCode()
	return is
}

// turnCount stops a loop that does not come to an end.
type turnCount struct{ limit, turns int }

func (g *turnCount) take(t *judged) { g.turns = t.LoopTurn }

func (g *turnCount) stop() (string, string) {
	if g.turns < g.limit {
		return "", ""
	}
	return maxTurns, fmt.Sprintf("the model took %d turns without coming to an end, so it was stopped (guard max_turns)", g.turns)
}
