// Package timeline folds the rows of a run's journal into loops, turns and
// actions: what a front end shows of a run, and follows as it grows. It reads the
// rows of one run, from any row on. What it does not know it leaves out: no row
// makes it fail.
package timeline

import (
	"bytes"
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
)

// Timeline is a run as its journal tells it. Its zero value is an empty one. It
// may be read between two calls of Take, and not during one.
type Timeline struct {
	Loops []*Loop        // in the order in which rows name them first
	Calls []*Turn        // the turns that no prompt caused: tools that a person called
	Plan  []sdk.PlanStep // of the run, in their order; of what was read

	working *Loop // that rows belong to which name none
	loops   map[int64]*Loop
	turns   map[int]*Turn
	actions map[string]*Action
}

// Of folds rows, which are in the order of their Seq.
func Of(rows []sdk.JournalRow) *Timeline {
	t := &Timeline{}
	for _, row := range rows {
		t.Take(row)
	}
	return t
}

// Change is what a row is about. Its members are nil where the row is about none.
type Change struct {
	Loop   *Loop // a row that names none belongs to the loop at work
	Turn   *Turn
	Action *Action
	Reply  bool // the turn has its reply now, whole or cut off
	Plan   bool // a step of the run's plan is another, or gone
}

// Take takes in the next row. A row that was taken in before must not come again.
func (t *Timeline) Take(row sdk.JournalRow) Change {
	if isLook(row) {
		return Change{Plan: t.begins(row)}
	}
	if t.loops == nil {
		t.loops, t.turns, t.actions = map[int64]*Loop{}, map[int]*Turn{}, map[string]*Action{}
	}
	c := Change{Loop: t.loop(row), Plan: t.plan(row)}
	switch row.Kind {
	case sdk.KindTurnOpened, sdk.KindTurnClosed:
		c.Turn = t.turn(row, row.Turn)
		c.Turn.take(row)
	case sdk.KindEntrySet:
		t.entry(row, &c)
	case sdk.KindEntryChunk:
		path := row.Path
		if of, _, is := sdk.ParseOutputPath(path); is {
			path = of.String()
		}
		if c.Action = t.actions[path]; c.Action != nil {
			c.Action.stream(row)
			c.Turn = t.turns[c.Action.Turn]
		}
	}
	if c.Loop != nil {
		c.Loop.take(row)
		if c.Loop.End != nil && t.working == c.Loop {
			t.working = nil
		}
	}
	return c
}

// loop is the loop that a row belongs to; nil when nobody can say.
func (t *Timeline) loop(row sdk.JournalRow) *Loop {
	if row.Loop == 0 {
		if turn := t.turns[row.Turn]; turn != nil {
			return t.loops[turn.Loop]
		}
		if row.Kind == sdk.KindTurnOpened {
			return nil // a call of a tool that no prompt caused
		}
		return t.working
	}
	l := t.loops[row.Loop]
	if l == nil {
		l = &Loop{ID: row.Loop}
		t.loops[row.Loop] = l
		t.Loops = append(t.Loops, l)
	}
	if l.End == nil && (row.Kind == sdk.KindLoopStarted || row.Kind == sdk.KindTurnOpened || t.working == nil && row.Kind != sdk.KindLoopQueued && !isPrompt(row)) {
		t.working = l
	}
	return l
}

// lookMark is in the data of each row of a look, and in few others.
var lookMark = []byte(`"look":true`)

// isLook finds the rows that tell of what is in sight alone, or of what a fork has of its parent: of an action
// that has ended, in a loop that has.
func isLook(row sdk.JournalRow) bool {
	var c sdk.EntryChange
	return row.Kind == sdk.KindEntrySet && bytes.Contains(row.Data, lookMark) && json.Unmarshal(row.Data, &c) == nil && c.Look
}

func isPrompt(row sdk.JournalRow) bool { return sdk.SchemeOf(row.Path) == "prompt" }

// turn is the turn of that number. One whose beginning was not read is made.
func (t *Timeline) turn(row sdk.JournalRow, number int) *Turn {
	turn := t.turns[number]
	if turn == nil {
		turn = &Turn{Number: number, Loop: row.Loop}
		t.turns[number] = turn
		if l := t.loops[row.Loop]; l != nil {
			l.Turns = append(l.Turns, turn)
		} else {
			t.Calls = append(t.Calls, turn)
		}
	}
	return turn
}

// entry takes in a write of an entry: a reply, or an action.
func (t *Timeline) entry(row sdk.JournalRow, c *Change) {
	var change sdk.EntryChange
	if json.Unmarshal(row.Data, &change) != nil {
		return
	}
	if of, channel, ok := sdk.ParseOutputPath(row.Path); ok {
		if a := t.actions[of.String()]; a != nil && row.Body != nil && change.State.Ended() {
			a.whole(channel, *row.Body)
		}
		return
	}
	if number, ok := sdk.ParseReplyPath(row.Path); ok {
		c.Turn = t.turn(row, number)
		c.Reply = c.Turn.reply(row, change)
	}
	if path, ok := sdk.ParseActionPath(row.Path); ok {
		c.Turn = t.turn(row, path.Turn)
		a := t.actions[row.Path]
		if a == nil {
			a = &Action{}
			a.Tool = path.Tool
			t.actions[row.Path] = a
			a.Apply(row, change)
			c.Turn.add(a)
		} else {
			a.Apply(row, change)
		}
		c.Action = a
	}
}
