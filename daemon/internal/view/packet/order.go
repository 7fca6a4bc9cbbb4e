package packet

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// rows are those of the packet of a loop, in its order: data and unknowns as they came into the run, between them what happened in
// the order of turns, and the prompt of the loop last. Prompts of loops that are to come are left out, and what was said of the
// packet of this turn when it did not fit: it is the same packet when a daemon makes it again.
func (f *found) rows(loop int64, turn int) []*sdk.Row {
	rows := make([]*sdk.Row, 0, len(f.pieces))
	pick := func(category sdk.Category) {
		for _, p := range f.pieces {
			if p.row.Category == category {
				rows = append(rows, p.row)
			}
		}
	}
	pick(sdk.CategoryData)
	rows = append(rows, f.events(loop, sdk.ActionPath{Turn: turn, Tool: sdk.ErrorTool}.String())...)
	pick(sdk.CategoryUnknown)
	for _, p := range f.pieces {
		if p.row.Category == sdk.CategoryPrompt && p.row.Loop == loop {
			rows = append(rows, p.row)
		}
	}
	return rows
}

// events are what happened and the prompts of earlier loops, by turns. A prompt may have been queued long before the first turn
// of its loop.
func (f *found) events(loop int64, without string) []*sdk.Row {
	first := map[int64]int{} // the first turn of each loop
	var loops []int64
	for _, p := range f.pieces {
		r := p.row
		if r.Category == sdk.CategoryPrompt && r.Loop < loop {
			loops = append(loops, r.Loop)
		}
		if r.Category == sdk.CategoryLogging && r.Loop != 0 && turnOf(r) > 0 && (first[r.Loop] == 0 || turnOf(r) < first[r.Loop]) {
			first[r.Loop] = turnOf(r)
		}
	}
	slices.Sort(loops)
	next := math.MaxInt
	for _, l := range slices.Backward(loops) { // a loop without turns comes before the next one
		if first[l] == 0 {
			first[l] = next
		}
		next = first[l]
	}
	type event struct {
		row       *sdk.Row
		turn, say int
	}
	var all []event
	for _, p := range f.pieces {
		switch r := p.row; {
		case r.Category == sdk.CategoryLogging && !strings.HasPrefix(r.Path, without):
			all = append(all, event{r, turnOf(r), 1})
		case r.Category == sdk.CategoryPrompt && r.Loop < loop:
			all = append(all, event{r, first[r.Loop], 0})
		}
	}
	slices.SortStableFunc(all, func(a, b event) int { return cmp.Or(cmp.Compare(a.turn, b.turn), cmp.Compare(a.say, b.say)) })
	rows := make([]*sdk.Row, len(all))
	for i := range all {
		rows[i] = all[i].row
	}
	return rows
}

// turnOf is the turn in which something happened: that of its path (SCHEME://turn_N), which a later change of its level leaves alone.
func turnOf(r *sdk.Row) int {
	if _, rest, is := strings.Cut(r.Path, "://turn_"); is {
		number, _, _ := strings.Cut(rest, "/")
		if turn, err := strconv.Atoi(number); err == nil {
			return turn
		}
	}
	return r.Turn
}
