package timeline

import (
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// Tree folds the rows of a run and of the runs below it, which it delegated work to, and they. Each has a timeline of
// its own; a call of sdk.ToolDelegate leads from one to the next. Its zero value is an empty one.
type Tree struct {
	runs  map[int64]*Timeline
	calls map[int64]Call // by the loop that each began
}

// Call is a call that delegated work, in the loop that made it.
type Call struct {
	Loop   *Loop
	Action *Action
}

// Take takes in the next row, of whichever of the runs.
func (t *Tree) Take(row sdk.JournalRow) Change {
	if t.runs == nil {
		t.runs, t.calls = map[int64]*Timeline{}, map[int64]Call{}
	}
	if t.runs[row.Run] == nil {
		t.runs[row.Run] = &Timeline{}
	}
	c := t.runs[row.Run].Take(row)
	if c.Action != nil && c.Action.Child != nil && c.Loop != nil {
		t.calls[c.Action.Child.Loop] = Call{c.Loop, c.Action}
	}
	return c
}

// Run is the timeline of one of the runs; nil when no row of it was read.
func (t *Tree) Run(id int64) *Timeline { return t.runs[id] }

// Delegated is the loop that a call began, as far as its rows were read; nil when that is none.
func (t *Tree) Delegated(a *Action) *Loop {
	if a.Child == nil || t.runs[a.Child.Run] == nil {
		return nil
	}
	return t.runs[a.Child.Run].loops[a.Child.Loop]
}

// Chain are the calls by which the work of a loop came from another one, the first of all first; false when it
// did not. Of the other one itself it is empty.
func (t *Tree) Chain(l, from *Loop) ([]Call, bool) {
	var chain []Call
	for l != nil && l.ID != from.ID {
		call, is := t.calls[l.ID]
		if !is {
			return nil, false
		}
		chain, l = append(chain, call), call.Loop
	}
	slices.Reverse(chain)
	return chain, l != nil
}

// Top is the loop that the work of one came from, through whatever calls; itself where no call began it.
func (t *Tree) Top(l *Loop) *Loop {
	for l != nil {
		call, is := t.calls[l.ID]
		if !is {
			return l
		}
		l = call.Loop
	}
	return nil
}

// Waits is an action that a person has to answer now, of a loop or of the work that it delegated; nil when
// nothing waits. Where several do it is the first in the order of the calls.
func (t *Tree) Waits(l *Loop) *Action {
	if all := t.Waiting(l); len(all) > 0 {
		return all[0]
	}
	return nil
}

// Waiting are the actions that a person has to answer now: of a loop, and of each that works for it at the same time.
// Of each loop it is the first.
func (t *Tree) Waiting(l *Loop) (all []*Action) {
	if a := l.Waits(); a != nil {
		all = append(all, a)
	}
	for _, a := range l.Actions() {
		if below := t.Delegated(a); below != nil && !a.State.Ended() {
			all = append(all, t.Waiting(below)...)
		}
	}
	return all
}
