package guard

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// strikes stops a model after so many turns in a row in which something failed
// or a pattern of turns repeated itself. A turn without either clears them. The
// model is not told of a pattern: it would vary a word and go on as before.
type strikes struct {
	limit  int
	cycles *cycles // nil is off
	row    int
	cycle  int    // the period of the pattern that brought the last strike; 0: something failed
	going  int    // how many turns that pattern has been going on for
	last   string // what failed
}

func (g *strikes) take(t *judged) {
	errors, cut := 0, false
	for _, a := range t.counted {
		cut = cut || excused(a)
		if Failed(a) {
			errors++
			g.last = cmp.Or(a.Reason, a.Body)
		}
	}
	for _, entry := range t.Errors {
		if strikesFor(entry) {
			errors++
			g.last = entry.Body
		}
	}
	period, going := 0, 0
	live := slices.ContainsFunc(t.calls, func(c madeCall) bool { return c.live })
	if g.cycles != nil && !cut && !live { // a turn that was cut, or looked at what changes, does not show what the model was about
		period, going = g.cycles.add(fingerprint(t.calls))
	}
	switch {
	case errors > 0:
		g.row, g.cycle = g.row+1, 0
	case period > 0:
		g.row, g.cycle, g.going = g.row+1, period, going
	case !cut:
		g.row = 0
	}
}

// strikesFor leaves out failures that are not the model's: a prompt that had to
// be shortened, a part of Bothy or the project that was not there.
func strikesFor(entry sdk.Entry) bool {
	theirs := []sdk.Outcome{sdk.Overflow, sdk.Unavailable, sdk.Interrupted, sdk.Aborted}
	return entry.State == sdk.StateFailed && !slices.Contains(theirs, entry.Outcome)
}

func (g *strikes) stop() (string, string) {
	switch {
	case g.row < g.limit:
		return "", ""
	case g.cycle == 1:
		return minCycles, fmt.Sprintf("the model did the same in %d turns, so it was stopped (guard min_cycles)", g.going)
	case g.cycle > 1:
		return minCycles, fmt.Sprintf("the model went round in circles of %d turns for %d turns, so it was stopped (guard min_cycles)", g.cycle, g.going)
	}
	return maxStrikes, fmt.Sprintf("%d turns in a row brought no progress, so the model was stopped (guard max_strikes); the last failure: %s", g.row, sdk.Excerpt(g.last))
}

// fingerprint is equal for turns with the same calls in any order, whatever the model
// tells by them, also for turns without one.
func fingerprint(calls []madeCall) digest {
	sums := make([]digest, len(calls))
	for i, c := range calls {
		sums[i] = c.about
	}
	slices.SortFunc(sums, func(a, b digest) int { return bytes.Compare(a[:], b[:]) })
	all := make([]byte, 0, len(sums)*sha256.Size)
	for i := range sums {
		all = append(all, sums[i][:]...)
	}
	return sha256.Sum256(all)
}

// cycles finds the end of a sequence of turns to be least copies of one block
// of at most period turns. Its work per turn does not grow with the sequence.
type cycles struct {
	least  int
	recent []digest // a ring of as many turns as the longest period
	same   []int    // by period k: how many turns in a row equal the one k before them
	n      int
}

// newCycles returns nil when there is nothing to look for.
func newCycles(least, period int) *cycles {
	if least <= 0 || period <= 0 {
		return nil
	}
	return &cycles{least: least, recent: make([]digest, period), same: make([]int, period)}
}

// add takes the next turn and returns the shortest period that the sequence now
// repeats with, and how many turns it has done so for; 0 is none.
func (c *cycles) add(f digest) (found, going int) {
	for k := 1; k <= len(c.recent); k++ {
		if c.n < k || c.recent[(c.n-k)%len(c.recent)] != f {
			c.same[k-1] = 0
		} else {
			c.same[k-1]++
		}
		if found == 0 && c.n+1 >= k*c.least && c.same[k-1] >= k*(c.least-1) {
			found, going = k, k+c.same[k-1]
		}
	}
	c.recent[c.n%len(c.recent)] = f
	c.n++
	return found, going
}
