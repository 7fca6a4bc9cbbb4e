package delegate

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// ended is a run whose one loop had one turn.
type ended struct{ reply sdk.Entry }

func (e ended) Loops(context.Context, int64) ([]sdk.Loop, error) {
	return []sdk.Loop{{ID: 7, Run: 2}}, nil
}
func (e ended) Turns(context.Context, int64) ([]sdk.Turn, error) {
	return []sdk.Turn{{Loop: 7, Sequence: 1}}, nil
}
func (e ended) Entry(context.Context, int64, string) (sdk.Entry, error)      { return e.reply, nil }
func (e ended) Entries(context.Context, sdk.EntryQuery) ([]sdk.Entry, error) { return nil, nil }

// TestAnswerInTags: who delegated is told what a child said, and no tags of its calls.
func TestAnswerInTags(t *testing.T) {
	s := ended{sdk.Entry{Body: `It is not there. <get path="a"/>`, Attributes: json.RawMessage(`{"found":[{"id":"c1","tool":"get","at":[17,32]}]}`)}}
	done, err := ReadDone(context.Background(), s, sdk.ActionChild{Run: 2, Alias: "child-1", Agent: "child"}, sdk.Loop{ID: 7, Run: 2, Stop: "strikes", Status: sdk.StatusFailed, Reason: "three strikes"})
	if err != nil || done.Answer != "It is not there. " {
		t.Errorf("%q, %v", done.Answer, err)
	}
	if got := End(done).Output; got != "child (run child-1) came to no result: three strikes\n\nThe last that it wrote:\nIt is not there." {
		t.Errorf("it is told %q", got)
	}
}
