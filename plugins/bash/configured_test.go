package main

import (
	"slices"
	"testing"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
)

// TestJudgeTakesWhatTheCallSays: what is configured for a project comes with its
// calls, and counts for that project; what is added for a run counts for that run.
func TestJudgeTakesWhatTheCallSays(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	project, other := t.TempDir(), t.TempDir()
	j := judge{configured: &configured{}}
	classes := func(run, project string) (all []sandbox.Class) {
		var changes []sandbox.Change
		for _, at := range []string{"keys/a", "Makefile", ".vscode/x", ".bothy/x"} {
			changes = append(changes, sandbox.Change{Path: at, Is: sandbox.Node{Kind: sandbox.NodeFile}})
		}
		for _, r := range j.Rule(run, project, nil, changes, sandbox.Readers{}) {
			all = append(all, r.Class)
		}
		return all
	}
	usual := []sandbox.Class{sandbox.Free, sandbox.Free, sandbox.Asked, sandbox.Refused}
	if got := classes("run", project); !slices.Equal(got, usual) {
		t.Errorf("before any call: %v", got)
	}
	j.configured.heard(sdk.Invocation{Run: "run", Project: project, Protection: sdk.Protection{Refuse: []string{"keys"}, Ask: []string{"Makefile"}, Free: []string{".vscode", "**"}}})
	if got, want := classes("run", project), []sandbox.Class{sandbox.Refused, sandbox.Asked, sandbox.Free, sandbox.Refused}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := classes("another", other); !slices.Equal(got, usual) {
		t.Errorf("of another project: %v", got)
	}
	j.configured.heard(sdk.Invocation{Run: "run", Project: project})
	if got := classes("run", project); !slices.Equal(got, usual) {
		t.Errorf("once it is taken back: %v", got)
	}
	j.configured.heard(sdk.Invocation{Run: "wary", Project: project, Protection: sdk.Protection{Ask: []string{"Makefile"}}})
	j.configured.heard(sdk.Invocation{Run: "run", Project: project})
	wary := []sandbox.Class{sandbox.Free, sandbox.Asked, sandbox.Asked, sandbox.Refused}
	if got := classes("wary", project); !slices.Equal(got, wary) {
		t.Errorf("of another run: %v", got)
	}
	j.configured.forget("wary")
	if got := classes("wary", project); !slices.Equal(got, usual) {
		t.Errorf("of a run that is given up: %v", got)
	}
}
