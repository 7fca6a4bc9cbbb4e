package timeline

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// delegated is a run that delegates twice, to runs of which the first delegates too: its call waits for a person.
func delegated() []sdk.JournalRow {
	var all []sdk.JournalRow
	of := func(run int64, add func(r *rows)) {
		var r rows
		add(&r)
		for _, row := range r {
			row.Run = run
			all = append(all, row)
		}
	}
	begins := func(loop int64) func(r *rows) {
		return func(r *rows) {
			r.add(sdk.KindLoopStarted, loop, 0, "", map[string]any{"sequence": 1})
			r.add(sdk.KindTurnOpened, loop, 1, "", map[string]any{"model": "m"})
		}
	}
	gives := func(loop int64, name string, child sdk.ActionChild) func(r *rows) {
		text, _ := json.Marshal(child)
		return func(r *rows) {
			r.add(sdk.KindEntrySet, loop, 1, "log://turn_1/delegate/"+name, set(sdk.StateStreaming, sdk.PhaseStarted, fmt.Sprintf(`{"tool":"delegate","child":%s}`, text)))
		}
	}
	of(1, begins(11))
	of(2, begins(21)) // its rows may come before the one that says whose it is
	of(1, gives(11, "a", sdk.ActionChild{Run: 2, Alias: "two", Loop: 21, Agent: "x"}))
	of(1, gives(11, "b", sdk.ActionChild{Run: 3, Alias: "three", Loop: 31, Agent: "x"}))
	of(3, begins(31))
	of(2, gives(21, "c", sdk.ActionChild{Run: 4, Alias: "four", Loop: 41, Agent: "x"}))
	of(4, begins(41))
	of(4, func(r *rows) {
		r.add(sdk.KindEntrySet, 41, 1, "log://turn_1/bash/call", set(sdk.StateProposed, sdk.PhaseRecorded, `{"tool":"bash"}`))
	})
	of(3, begins(32)) // a later prompt of its own
	return all
}

func TestTree(t *testing.T) {
	var tree Tree
	for _, row := range delegated() {
		tree.Take(row)
	}
	top := tree.Run(1).loops[11]
	chain := func(run, loop int64) string {
		calls, is := tree.Chain(tree.Run(run).loops[loop], top)
		text := fmt.Sprint(is)
		for _, c := range calls {
			text += " " + c.Action.Child.Alias
		}
		return text
	}
	for _, c := range []struct {
		run, loop int64
		want      string
	}{{1, 11, "true"}, {2, 21, "true two"}, {3, 31, "true three"}, {4, 41, "true two four"}, {3, 32, "false"}} {
		if got := chain(c.run, c.loop); got != c.want {
			t.Errorf("loop %d of run %d: %s, want %s", c.loop, c.run, got, c.want)
		}
	}
	if all := tree.Waiting(top); len(all) != 1 || all[0] != tree.Waits(top) {
		t.Errorf("%+v wait", all)
	}
	waits := tree.Waits(top)
	if waits == nil || waits.Tool != "bash" {
		t.Fatalf("%+v waits", waits)
	}
	if tree.Waits(tree.Run(3).loops[31]) != nil {
		t.Error("something waits where nothing does")
	}
	asks := func(run, loop int64) {
		var r rows
		r.add(sdk.KindEntrySet, loop, 1, "log://turn_1/write/call", set(sdk.StateProposed, sdk.PhaseRecorded, `{"tool":"write"}`))
		r[0].Run = run
		tree.Take(r[0])
	}
	asks(3, 31) // beside it
	if all := tree.Waiting(top); len(all) != 2 || all[0] != waits || all[1] != tree.Run(3).loops[31].Waits() {
		t.Errorf("%+v wait", all)
	}
	asks(3, 32) // and what is none of it
	if all := tree.Waiting(top); len(all) != 2 {
		t.Errorf("%+v wait", all)
	}
	if a := top.Actions()[0]; tree.Delegated(a) != tree.Run(2).loops[21] || tree.Delegated(waits) != nil {
		t.Error("a call does not lead to its work")
	}
}

func TestAnEmptyTree(t *testing.T) {
	var tree Tree
	if tree.Run(1) != nil || tree.Waits(&Loop{ID: 1}) != nil || tree.Delegated(&Action{}) != nil {
		t.Error("an empty tree has something")
	}
	if _, is := tree.Chain(nil, &Loop{ID: 1}); is {
		t.Error("nothing came of a loop")
	}
}
