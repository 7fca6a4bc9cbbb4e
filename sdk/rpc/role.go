package rpc

import (
	"path/filepath"
)

// Role is what a connection may do. Each role may what those before it may.
type Role string

// The roles, from least to most. A connection to the Unix socket has submit unless it
// says hello with a token or asks for less; a WebSocket has that of the token it began with.
const (
	RoleObserve Role = "observe" // read
	RoleSubmit  Role = "submit"  // give work to runs, and end it
	RoleApprove Role = "approve" // answer proposals; widen what runs may do
	RoleAdmin   Role = "admin"   // configure, back up and stop the daemon
)

// Valid reports whether r is one of the roles.
func (r Role) Valid() bool { return r.rank() > 0 }

// NeedsToken reports whether a connection has the role only by a token, also on the Unix
// socket.
func (r Role) NeedsToken() bool { return r == RoleApprove || r == RoleAdmin }

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
// submit, approve or admin: a file of 64 hex digits, mode 0600, made anew at each start.
// Read it each time a connection is made, and after it was made, for the daemon
// may be another one by then.
func TokenPath(socket string, role Role) string {
	return filepath.Join(filepath.Dir(socket), string(role)+".token")
}

// The classes of parameters: the tag access of each field of a method's
// parameters. A field without one is held for AccessApprove, and a test of the
// daemon fails for it.
const (
	AccessFree     = "free"     // whoever may call the method may say anything here
	AccessApprove  = "approve"  // it widens what a run may do, or answers for a person: it needs the role approve
	AccessProject  = "project"  // the root of a project: a channel is held to its own
	AccessRun      = "run"      // the alias or id of a run of any project: a channel is held to those that it began
	AccessOwner    = "owner"    // an owner of runs, in the place of a run: another than local needs the role admin, and a channel names none
	AccessAlias    = "alias"    // the alias of a run in the project, which may not be there yet: the same
	AccessProposal = "proposal" // the id of a proposal: the same
)
