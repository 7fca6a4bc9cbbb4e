package main

import (
	"slices"
	"testing"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
)

// TestJudgeTakesWhatTheCallSays: what is configured for a project comes with its
// calls, and counts for that project.
func TestJudgeTakesWhatTheCallSays(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	project, other := t.TempDir(), t.TempDir()
	j := judge{configured: &configured{}}
	classes := func(project string) (all []sandbox.Class) {
		var changes []sandbox.Change
		for _, at := range []string{"keys/a", "Makefile", ".vscode/x", ".bothy/x"} {
			changes = append(changes, sandbox.Change{Path: at, Is: sandbox.Node{Kind: sandbox.NodeFile}})
		}
		for _, r := range j.Rule(project, nil, changes, sandbox.Readers{}) {
			all = append(all, r.Class)
		}
		return all
	}
	usual := []sandbox.Class{sandbox.Free, sandbox.Free, sandbox.Asked, sandbox.Refused}
	if got := classes(project); !slices.Equal(got, usual) {
		t.Errorf("before any call: %v", got)
	}
	j.configured.heard(sdk.Invocation{Project: project, Protection: sdk.Protection{Refuse: []string{"keys"}, Ask: []string{"Makefile"}, Free: []string{".vscode", "**"}}})
	if got, want := classes(project), []sandbox.Class{sandbox.Refused, sandbox.Asked, sandbox.Free, sandbox.Refused}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := classes(other); !slices.Equal(got, usual) {
		t.Errorf("of another project: %v", got)
	}
	j.configured.heard(sdk.Invocation{Project: project})
	if got := classes(project); !slices.Equal(got, usual) {
		t.Errorf("once it is taken back: %v", got)
	}
}
