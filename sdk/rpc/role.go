package rpc

import (
	"path/filepath"
)

// Role is what a connection may do. Each role may what those before it may.
type Role string

// The roles, from least to most. A connection has submit unless it says hello
// with a token or asks for less.
const (
	RoleObserve Role = "observe" // read
	RoleSubmit  Role = "submit"  // give work to runs, and end it
	RoleApprove Role = "approve" // answer proposals; widen what runs may do
	RoleAdmin   Role = "admin"   // configure, back up and stop the daemon
)

// Allows reports whether a connection of role r may what needs the role need.
func (r Role) Allows(need Role) bool { return r.rank() >= need.rank() && need.rank() > 0 }

func (r Role) rank() int {
	for i, x := range []Role{RoleObserve, RoleSubmit, RoleApprove, RoleAdmin} {
		if r == x {
			return i + 1
		}
	}
	return 0
}

// TokenPath is where the daemon that listens at socket keeps the token of a role,
// approve or admin: a file of 64 hex digits, mode 0600, made anew at each start.
// Read it each time a connection is made, for the daemon may be another one by
// then.
func TokenPath(socket string, role Role) string {
	return filepath.Join(filepath.Dir(socket), string(role)+".token")
}
