package server

import (
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestEntriesOfAnOwner: who names an owner in the place of a run is answered by their newest run; another's than of this machine need
// the role admin, and a run beside it is a mistake.
func TestEntriesOfAnOwner(t *testing.T) {
	h := open(t, nil)
	h.store.runs = append(h.store.runs, sdk.Run{ID: 70, Project: 1, Alias: "mine", Origin: sdk.Origin{Owner: sdk.LocalOwner}}, sdk.Run{ID: 71, Project: 1, Alias: "of-ada", Origin: sdk.Origin{Owner: "chat/ada", Channel: "chat"}})
	c := h.client(t)
	if _, err := c.Entries(t.Context(), rpc.EntriesParams{Owner: sdk.LocalOwner}); err != nil {
		t.Error(err)
	}
	if _, err := c.Entries(t.Context(), rpc.EntriesParams{Owner: sdk.LocalOwner, Run: "70"}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("an owner and a run: %v", err)
	}
	if _, err := c.Entries(t.Context(), rpc.EntriesParams{Owner: "chat/ada"}); err != nil {
		t.Errorf("with the role admin: %v", err)
	}
	if _, err := h.as(t, rpc.RoleApprove).Entries(t.Context(), rpc.EntriesParams{Owner: "chat/ada"}); sdk.OutcomeOf(err) != sdk.Permission {
		t.Errorf("without the role admin: %v", err)
	}
}
