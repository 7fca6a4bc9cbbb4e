package main

import (
	"context"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/server"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// rendered are packets of which nobody asks.
type rendered struct{ server.Packets }

func (rendered) Names(string) bool { return false }

func (rendered) Packet(context.Context, sdk.Run, int) (rpc.Packet, error) {
	return rpc.Packet{}, sdk.Errorf(sdk.NotFound, "nothing is kept")
}

func TestPacketForPeople(t *testing.T) {
	p := rpc.Packet{Turn: 3, Model: "m", View: "transcript", Same: true, Hash: "abc", Tokens: 12, ContextTokens: 12, Context: 100, Messages: []sdk.Message{
		{Role: sdk.RoleSystem, Text: "be kind\n"},
		{Role: sdk.RoleAssistant, Calls: []sdk.Call{{ID: "c1", Tool: "read", Arguments: `{"path":"a"}`}}},
		{Role: sdk.RoleTool, Tool: "read", CallID: "c1", Text: "hi"},
	}}
	want := "--- system ---\nbe kind\n--- assistant ---\n\n[calls read c1] {\"path\":\"a\"}\n--- tool read c1 ---\nhi\n"
	if got := packetText(p); got != want {
		t.Errorf("%q", got)
	}
	if got := packetVerdict(p); got != "turn 3, m by transcript: 12 tokens of 100; this is what was sent (abc)" {
		t.Error(got)
	}
	p.ContextTokens = 11 // which no packet can say of itself
	if got := packetVerdict(p); got != "turn 3, m by transcript: 12 tokens of 100 (the model's server counted 11); this is what was sent (abc)" {
		t.Error(got)
	}
	p.Same, p.Gone = false, []rpc.GoneText{{Path: "known://a", Hash: "ff"}}
	if got := packetVerdict(p); !strings.Contains(got, "this is NOT what was sent") || !strings.Contains(got, "known://a (ff)") {
		t.Error(got)
	}
}
