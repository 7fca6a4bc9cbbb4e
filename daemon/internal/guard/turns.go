package guard

import (
	"fmt"

	"github.com/bothyd/bothy/sdk"
)

// failures stops a model whose calls fail one after the other, over turns and
// tools. What was given up because of something else, or interrupted, counts
// neither as a failure nor as a success.
type failures struct {
	limit int
	row   int    // failed calls in a row
	worst int    // the longest such row of the last turn
	last  string // what the last one came to
}

func (g *failures) take(t *judged) {
	g.worst = 0
	for _, a := range t.counted {
		switch {
		case a.State == sdk.StateResolved:
			g.row = 0
		case failedCall(a):
			g.row++
			g.worst, g.last = max(g.worst, g.row), a.Body
		}
	}
}

func (g *failures) stop() (string, string) {
	if g.worst < g.limit {
		return "", ""
	}
	return consecutiveErrors, fmt.Sprintf("%d calls in a row failed, so the model was stopped (guard consecutive_errors); the last one: %s", g.worst, sdk.Excerpt(g.last))
}

// failedCall reports whether the call failed by itself.
func failedCall(a sdk.Action) bool {
	return a.State == sdk.StateFailed && !interrupted(a) && !givenUp(a)
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
