package main

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestACallIsFoundInTheJournal: by its tool and arguments, among calls of others and of models.
func TestACallIsFoundInTheJournal(t *testing.T) {
	record := func(loop int64, turn int, tool, path, arguments string) sdk.JournalRow {
		call, _ := json.Marshal(sdk.ActionCall{Tool: tool, Arguments: json.RawMessage(arguments)})
		change, _ := json.Marshal(sdk.EntryChange{State: sdk.StateStreaming, Attributes: call})
		return sdk.JournalRow{Kind: sdk.KindEntrySet, Run: 3, Loop: loop, Turn: turn, Path: path, Data: change}
	}
	closed := func(turn int) sdk.JournalRow { return sdk.JournalRow{Kind: sdk.KindTurnClosed, Run: 3, Turn: turn} }
	f := &callFollower{call: rpc.ToolCall{Tool: "bash", Arguments: json.RawMessage(`{"command":"ls", "dir":".", "limit":null}`)}} // null is not recorded
	for i, row := range []sdk.JournalRow{
		closed(1),
		record(7, 2, "bash", "log://turn_2/bash/ls", `{"dir":".","command":"ls"}`), // of a model
		record(0, 3, "bash", "log://turn_3/bash/pwd", `{"command":"pwd"}`),
		closed(3),
		record(0, 4, "bash", "log://turn_4/bash/ls", `{"dir":".","command":"ls"}`),
		closed(3),
	} {
		if err := f.take(client.Event{Row: &row}); err != nil {
			t.Fatalf("row %d: %v", i, err)
		}
	}
	if f.path != "log://turn_4/bash/ls" || f.run != 3 || f.turn != 4 {
		t.Errorf("%+v", f)
	}
	row := closed(4)
	if err := f.take(client.Event{Row: &row}); !errors.Is(err, client.ErrDone) {
		t.Errorf("at its end: %v", err)
	}
}

// FuzzSameJSON: what is the same is so in both directions, and any text is the same as itself.
func FuzzSameJSON(f *testing.F) {
	f.Add(`{"a":1}`, `{ "a": 1.0 }`)
	f.Add(``, `null`)
	f.Fuzz(func(t *testing.T, a, b string) {
		if sameJSON(json.RawMessage(a), json.RawMessage(b)) != sameJSON(json.RawMessage(b), json.RawMessage(a)) || !sameJSON(json.RawMessage(a), json.RawMessage(a)) {
			t.Errorf("%q and %q", a, b)
		}
	})
}
