package delegate

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// ended is a run whose one loop had one turn.
type ended struct {
	reply sdk.Entry
	calls []sdk.Entry
}

func (e ended) Loops(context.Context, int64) ([]sdk.Loop, error) {
	return []sdk.Loop{{ID: 7, Run: 2}}, nil
}
func (e ended) Turns(context.Context, int64) ([]sdk.Turn, error) {
	return []sdk.Turn{{Loop: 7, Sequence: 1}}, nil
}
func (e ended) Entry(_ context.Context, _ int64, path string) (sdk.Entry, error) {
	if path == sdk.UpdatePath(1) {
		return sdk.Entry{Path: path, Body: "it is 5"}, nil
	}
	return e.reply, nil
}
func (e ended) Entries(context.Context, sdk.EntryQuery) ([]sdk.Entry, error) { return e.calls, nil }

// TestAnswerInTags: who delegated is told what a child said, and no tags of its calls.
func TestAnswerInTags(t *testing.T) {
	s := ended{reply: sdk.Entry{Body: `It is not there. <get path="a"/>`, Attributes: json.RawMessage(`{"found":[{"id":"c1","tool":"get","at":[17,32]}]}`)}}
	done, err := ReadDone(context.Background(), s, sdk.ActionChild{Run: 2, Alias: "child-1", Agent: "child"}, sdk.Loop{ID: 7, Run: 2, Stop: "strikes", Status: sdk.StatusFailed, Reason: "three strikes"})
	if err != nil || done.Answer != "It is not there. " {
		t.Errorf("%q, %v", done.Answer, err)
	}
	if got := End(done).Output; got != "child (run child-1) came to no result: three strikes\n\nThe last that it wrote:\nIt is not there." {
		t.Errorf("it is told %q", got)
	}
}

// TestUpdateBeforeOthers: the answer of a child is its update, also where other calls of its turn stand behind that.
func TestUpdateBeforeOthers(t *testing.T) {
	call := func(path, attributes, body string) sdk.Entry {
		return sdk.Entry{Path: "log://turn_1/" + path, Turn: 1, State: sdk.StateResolved, Phase: sdk.PhaseEnded, Attributes: json.RawMessage(attributes), Body: body}
	}
	s := ended{calls: []sdk.Entry{
		call("update/call", `{"tool":"update","plugin":"bothy","arguments":{"status":200,"body":"it is 5"}}`, "it is 5"),
		call("get/a", `{"tool":"get","plugin":"bothy","arguments":{"path":"a"}}`, "what is read"),
	}}
	done, err := ReadDone(t.Context(), s, sdk.ActionChild{Run: 2, Alias: "child-1", Agent: "child"}, sdk.Loop{ID: 7, Run: 2, Stop: sdk.StopTerminal, Status: 200})
	if err != nil || done.Answer != "it is 5" {
		t.Errorf("%q, %v", done.Answer, err)
	}
}
