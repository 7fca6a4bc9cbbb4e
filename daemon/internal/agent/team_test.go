package agent

import (
	"slices"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestTeamOfAll: without an agent of its name there is a team of all that a prompt may name, which a file that nobody
// trusts neither joins nor hides.
func TestTeamOfAll(t *testing.T) {
	var files []sdk.Definition
	l := NewLibrary(configuration(t, "team \"both\" {\n  agents = [\"default\"]\n}\n"), Sources{Files: func(string) []sdk.Definition { return files }})
	untrusted := of(sdk.AgentOfWorkspace, sdk.TeamOfAll, "auto.md")
	untrusted.Untrusted = true
	files = []sdk.Definition{of(sdk.AgentOfUser, "mine", "m.md"), untrusted}
	d, found := l.Find("/p", sdk.TeamOfAll)
	if want := []string{"default", "engineering", "mine"}; !found || d.Agent.Team == nil || !slices.Equal(d.Agent.Agents, want) {
		t.Errorf("%v %+v", found, d)
	}
	files[1].Untrusted = false
	if d, found := l.Find("/p", sdk.TeamOfAll); !found || d.Agent.Team != nil {
		t.Errorf("%v %+v", found, d)
	}
	if d, found := l.Find("/p", "both"); !found || d.Source != sdk.AgentOfConfig || d.Agent.Team == nil {
		t.Errorf("%v %+v", found, d)
	}
}
