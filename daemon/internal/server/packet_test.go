package server

import (
	"context"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// fakePackets render one turn, the third.
type fakePackets struct{}

func (fakePackets) Packet(_ context.Context, run sdk.Run, turn int) (rpc.Packet, error) {
	if turn != 3 {
		return rpc.Packet{}, sdk.Errorf(sdk.NotFound, "no turn %d", turn)
	}
	return rpc.Packet{Run: run.Alias, Turn: turn, Same: true, Messages: []sdk.Message{{Role: sdk.RoleUser, Text: "hi"}}}, nil
}

func (fakePackets) Names(path string) bool { return strings.HasPrefix(path, "user://") }

func (fakePackets) Entry(_ context.Context, _ sdk.Run, path string) (sdk.Entry, error) {
	if path != "user://3" {
		return sdk.Entry{}, sdk.Errorf(sdk.NotFound, "no %s", path)
	}
	return sdk.Entry{Path: path, Body: "hi"}, nil
}

// What a turn saw is asked for by its number, and its texts by the paths that entries have.
func TestPacketsAreRendered(t *testing.T) {
	h := open(t, nil)
	c := h.client(t)
	p, err := c.Packet(t.Context(), rpc.PacketParams{Run: "7", Turn: 3})
	if err != nil || !p.Same || len(p.Messages) != 1 || p.Run == "" {
		t.Errorf("%+v %v", p, err)
	}
	if _, err := c.Packet(t.Context(), rpc.PacketParams{Run: "7", Turn: 4}); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Error(err)
	}
	for _, x := range []struct {
		p    rpc.EntriesParams
		want string
	}{
		{rpc.EntriesParams{Run: "7", Pattern: "user://3"}, "user://3 hi"},
		{rpc.EntriesParams{Run: "7", Pattern: "user://3", Brief: true}, "user://3 "},
		{rpc.EntriesParams{Run: "7", Pattern: "user://3", Offset: 1}, ""},
		{rpc.EntriesParams{Run: "7", Pattern: "user://4"}, ""},
	} {
		got, err := c.Entries(t.Context(), x.p)
		text := ""
		for _, e := range got.Entries {
			text += e.Path + " " + e.Body
		}
		if err != nil || text != x.want {
			t.Errorf("%+v: %q %v", x.p, text, err)
		}
	}
}
