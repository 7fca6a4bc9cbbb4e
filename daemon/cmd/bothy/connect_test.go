package main

import (
	"testing"

	"github.com/alecthomas/kong"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"

	"github.com/bothyd/bothy/sdk/rpc"
)

// TestRolesOfVerbs: a verb asks for no more than it needs.
func TestRolesOfVerbs(t *testing.T) {
	var line cli
	parser, err := kong.New(&line, verbs.Vars())
	if err != nil {
		t.Fatal(err)
	}
	for role, lines := range map[rpc.Role][][]string{
		"": {{"status"}, {"runs", "list"}, {"runs", "undo", "x"}, {"tools", "list"}, {"skills", "list"}, {"config", "show"}, {"journal"}, {"models"}, {"models", "list"},
			{"run", "hello"}, {"chat"}, {"proposals", "list"}, {"proposals", "show", "x"}},
		rpc.RoleApprove: {{"trust"}, {"tools", "call", "x"}, {"proposals", "accept", "x"}, {"proposals", "reject", "x"}, {"policy", "forget", "x"}},
		rpc.RoleAdmin:   {{"stop"}, {"stop", "--now"}, {"backup"}, {"mcp", "logout", "x"}, {"models", "pull", "x"}, {"config", "reload"}, {"skills", "enable", "x"}, {"skills", "disable", "x"}, {"skills", "create", "x"}},
	} {
		for _, args := range lines {
			parsed, err := parser.Parse(args)
			if err != nil {
				t.Fatalf("%v: %v", args, err)
			}
			if got := roleOf(parsed.Selected()); got != role {
				t.Errorf("%v asks for %q, want %q", args, got, role)
			}
		}
	}
}
