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

// TestPacketsOfOthers: what a model was sent has what is remembered of its run's owner in it, so that it is as far as that from
// whoever asks: rendered, by the path of one of its texts, in a list, and as a row of the journal.
func TestPacketsOfOthers(t *testing.T) {
	h := open(t, nil)
	h.store.runs = append(h.store.runs, sdk.Run{ID: 70, Project: 1, Alias: "mine", Origin: sdk.Origin{Owner: sdk.LocalOwner}}, sdk.Run{ID: 71, Project: 1, Alias: "of-ada", Origin: sdk.Origin{Owner: "chat/ada", Channel: "chat"}})
	body := "<memory>canary</memory>"
	h.store.entries = []sdk.Entry{{Path: "system://aa", Body: body}}
	for _, run := range []int64{70, 71} {
		h.store.commit(sdk.JournalRow{Kind: sdk.KindEntrySet, Run: run, Path: "system://aa", Body: &body})
	}
	for _, role := range []rpc.Role{rpc.RoleObserve, rpc.RoleSubmit, rpc.RoleApprove, rpc.RoleAdmin} {
		c := h.as(t, role)
		for run, may := range map[string]bool{"70": true, "71": role == rpc.RoleAdmin} {
			refused := func(what string, err error) {
				if (sdk.OutcomeOf(err) == sdk.Permission && err != nil) == may {
					t.Errorf("%s of %s by %s: %v", role, run, what, err)
				}
			}
			_, err := c.Packet(t.Context(), rpc.PacketParams{Run: run, Turn: 3})
			refused("run/packet", err)
			for _, path := range []string{"user://3", "system://aa", "SYSTEM://*"} {
				_, err = c.Entries(t.Context(), rpc.EntriesParams{Run: run, Pattern: path})
				refused(path, err)
			}
			page, err := c.Entries(t.Context(), rpc.EntriesParams{Run: run})
			if err != nil || (len(page.Entries) == 1) != may {
				t.Errorf("%s of %s lists %+v, %v", role, run, page.Entries, err)
			}
			rows, err := c.Journal(t.Context(), rpc.JournalParams{Run: run})
			if err != nil || (len(rows.Rows) == 1) != may {
				t.Errorf("%s of %s is given the rows %+v, %v", role, run, rows.Rows, err)
			}
		}
	}
}
