package rpc

import "testing"

// TestRolesAreInOneOrder: each may what those before it may, and what is no role
// may nothing and is never enough.
func TestRolesAreInOneOrder(t *testing.T) {
	order := []Role{RoleObserve, RoleSubmit, RoleApprove, RoleAdmin}
	for i, has := range order {
		for j, need := range order {
			if has.Allows(need) != (i >= j) {
				t.Errorf("%s allows %s: %v", has, need, has.Allows(need))
			}
		}
		if !has.Valid() || has.NeedsToken() != (i > 1) {
			t.Errorf("%s: valid %v, needs a token %v", has, has.Valid(), has.NeedsToken())
		}
		for _, none := range []Role{"", "root", "Admin", "admin "} {
			if has.Allows(none) || none.Allows(has) || none.Valid() || none.NeedsToken() {
				t.Errorf("%q counts as a role beside %s", none, has)
			}
		}
	}
}
