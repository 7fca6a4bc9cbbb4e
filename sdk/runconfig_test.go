package sdk

import (
	"slices"
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
