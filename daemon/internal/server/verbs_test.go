package server

import (
	"encoding/json"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestVerbs holds that each verb's parameters come to the call that they say, with the writer's role.
func TestVerbs(t *testing.T) {
	h := open(t, nil)
	c, ctx := h.client(t), t.Context()
	for _, x := range []struct {
		ask  func() (sdk.EntryDone, error)
		want string
	}{
		{func() (sdk.EntryDone, error) {
			return c.SetEntry(ctx, rpc.Set{Run: "7", Path: "known://a", Body: new("x"), Append: true, State: "failed", Outcome: "o", Visibility: "archived", Attributes: json.RawMessage(`{"p":1}`), Summary: "s", Pattern: true, Filter: "f"})
		}, `7 {"verb":"set","path":"known://a","body":"x","append":true,"state":"failed","outcome":"o","visibility":"archived","attributes":{"p":1},"summary":"s","pattern":true,"filter":"f"}`},
		{func() (sdk.EntryDone, error) {
			return c.GetEntry(ctx, rpc.Get{Run: "7", Path: "known://a", Line: -1, Limit: 2, Preview: true, Filter: "f"})
		}, `7 {"verb":"get","path":"known://a","filter":"f","line":-1,"limit":2,"preview":true}`},
		{func() (sdk.EntryDone, error) {
			return c.RemoveEntry(ctx, rpc.Remove{Run: "7", Path: "known://*", Filter: "f"})
		}, `7 {"verb":"rm","path":"known://*","filter":"f"}`},
		{func() (sdk.EntryDone, error) {
			return c.CopyEntry(ctx, rpc.Move{Run: "7", Path: "known://a", To: "known://b", Visibility: "visible"})
		}, `7 {"verb":"cp","path":"known://a","to":"known://b","visibility":"visible"}`},
		{func() (sdk.EntryDone, error) {
			return c.MoveEntry(ctx, rpc.Move{Run: "7", Path: "known://a", To: "known://b"})
		}, `7 {"verb":"mv","path":"known://a","to":"known://b"}`},
		{func() (sdk.EntryDone, error) {
			return c.Progress(ctx, rpc.Update{Run: "7", Body: "half", Status: 200, Attributes: json.RawMessage(`{"p":1}`)})
		}, `7 {"verb":"update","body":"half","attributes":{"p":1},"status":200}`},
	} {
		if done, err := x.ask(); err != nil || done.Text != x.want {
			t.Errorf("got %s, %v; want %s", done.Text, err, x.want)
		}
	}
	if _, err := c.GetEntry(ctx, rpc.Get{Run: "7", Path: "known://missing"}); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("a failure: %v", err)
	}
}
