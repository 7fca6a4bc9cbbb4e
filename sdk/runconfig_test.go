package sdk

import (
	"slices"
	"strings"
	"testing"
)

func TestAgentInARun(t *testing.T) {
	cold, warm := 0.0, 0.7
	a := Agent{Name: "a", Persona: "its own", Temperature: &warm}
	if got := a.In(Run{}); got.Persona != "its own" || got.Temperature != &warm || len(got.Excluded) > 0 {
		t.Errorf("of a run that has nothing: %+v", got)
	}
	got := a.In(Run{RunConfig: RunConfig{Persona: "a pirate", Temperature: &cold, NoWeb: true, NoInteraction: true}})
	if got.Persona != "a pirate" || got.Temperature != &cold || !slices.Contains(got.Excluded, "search") {
		t.Errorf("%+v", got)
	}
	for name, admitted := range map[string]bool{"search": false, ToolAskUser: false, "bash": true} {
		if got.Admits(Tool{ToolSpec: ToolSpec{Name: name}, Plugin: "p"}) != admitted {
			t.Errorf("%s: %v", name, !admitted)
		}
	}
	silent := a.In(Run{RunConfig: RunConfig{NoProposals: true}})
	for _, name := range []string{"bash", ToolTests, ToolAskUser} {
		if silent.Admits(Tool{ToolSpec: ToolSpec{Name: name}, Plugin: "bash"}) {
			t.Errorf("%s is not left out", name)
		}
	}
	second := Tool{ToolSpec: ToolSpec{Name: "q__search"}, Declared: "search", Plugin: "q"} // an earlier block has one
	if got.Admits(second) || !a.Admits(second) {
		t.Error("a tool that another one took the name of is not left out")
	}
	for _, tt := range []struct{ limit, context, want int }{{0, 0, 0}, {0, 9, 9}, {5, 9, 5}, {9, 5, 5}, {5, 0, 5}} {
		if got := (RunConfig{ContextLimit: tt.limit}).Limit(tt.context); got != tt.want {
			t.Errorf("%+v gives %d", tt, got)
		}
	}
}

// TestOwnTools: an agent whose model is taught its tools has those of the twelve that it names, and no other has any.
func TestOwnTools(t *testing.T) {
	const all = "get skill think set rm mv cp ask_user update"
	for _, c := range []struct {
		agent Agent
		want  string
	}{
		{Agent{}, ""},
		{Agent{Tools: []string{"get", "set"}}, ""},
		{Agent{Dialect: DialectTags}, all},
		{Agent{View: ViewPacket, Tools: []string{"*", "read_file"}}, all},
		{Agent{Dialect: DialectTags, Tools: []string{"get", "sh", "write_file"}}, "get think update"},
		{Agent{Dialect: DialectTags, Without: []string{"set", "rm"}}, "get skill think mv cp ask_user update"},
	} {
		if got := strings.Join(c.agent.In(Run{}).OwnTools(), " "); got != c.want {
			t.Errorf("%+v has %q, want %q", c.agent, got, c.want)
		}
	}
}
