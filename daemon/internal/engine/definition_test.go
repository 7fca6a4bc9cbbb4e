package engine

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// definitions are the paths of the definitions that the house's project keeps.
func (h *house) definitions() (paths []string) {
	h.t.Helper()
	all, err := h.store.Entries(context.Background(), sdk.EntryQuery{Project: h.project, Pattern: agentScheme + "**"})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, e := range all {
		paths = append(paths, e.Path)
	}
	return paths
}

// TestALoopKeepsItsAgent: what a loop began with holds to its end, over another configuration and a restart, also of an
// agent that is gone by then. What was queued with it is the same.
func TestALoopKeepsItsAgent(t *testing.T) {
	for name, c := range map[string]struct {
		becomes map[string]sdk.Agent
		stop    string
	}{
		"another":       {map[string]sdk.Agent{"it": {Guards: sdk.Guards{MaxTurns: 1}}, "default": {}}, sdk.StopAnswer},
		"gone":          {map[string]sdk.Agent{"default": {}}, sdk.StopAnswer},
		"as it was":     {map[string]sdk.Agent{"it": {Persona: "You keep.", Skills: []string{}, Guards: sdk.Guards{MaxTurns: 3}}, "default": {}}, sdk.StopAnswer},
		"another model": {map[string]sdk.Agent{"it": {Model: "other"}, "default": {}}, sdk.StopAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			begun := make(chan struct{}, 1)
			h := prepareHouse(t, calls(numbered("read", 1)), silent(begun), calls(numbered("read", 2)), say("done"), say("done too"))
			h.agents["it"] = sdk.Agent{Persona: "You keep.", Skills: []string{}, Guards: sdk.Guards{MaxTurns: 3}}
			h.start()
			first := h.submit(Submission{Agent: "it", Run: "r"})
			<-begun
			second := h.submit(Submission{Agent: "it", Run: "r"})
			h.cut()
			h.agents = c.becomes
			h.start()
			for _, a := range []Accepted{first, second} {
				if l := h.await(a); l.Stop != c.stop {
					t.Errorf("the loop ended with %s: %s", l.Stop, l.Reason)
				}
			}
			for i, asked := range h.models.asked() {
				if !strings.Contains(asked.Messages[0].Text, "You keep.") {
					t.Errorf("the model was asked without its persona at %d", i)
				}
			}
			if kept := h.definitions(); len(kept) != 1 {
				t.Errorf("the project keeps %v", kept)
			}
			h.check(first.Run.ID)
		})
	}
}

// TestKeptOnce: a definition is written once for a project, whichever run began with it, and read from there by runs
// that channels made as well.
func TestKeptOnce(t *testing.T) {
	h := prepareHouse(t, say("1"), say("2"), say("3"), say("4"))
	h.start()
	h.run(Submission{Run: "one"})
	h.run(Submission{Run: "two"})
	if kept := h.definitions(); len(kept) != 1 {
		t.Errorf("two runs keep %v", kept)
	}
	h.cut()
	h.start()
	h.run(Submission{Run: "three"})
	if kept := h.definitions(); len(kept) != 1 {
		t.Errorf("and after a restart %v", kept)
	}
	h.agents = maps.Clone(h.agents)
	h.agents["default"] = sdk.Agent{Persona: "Another."}
	h.run(Submission{Run: "three"})
	if kept := h.definitions(); len(kept) != 2 {
		t.Errorf("another agent is kept as %v", kept)
	}
}

// TestDefinitionIsWhole: what is kept of an agent is all of it, so that none is wider when it is read back.
func TestDefinitionIsWhole(t *testing.T) {
	a := sdk.Agent{
		Name: "a", Tools: []string{"read_*"}, MCP: []string{}, Skills: []string{}, Bound: &sdk.Bound{Tools: []string{"read_file"}, MCP: []string{}},
		Finish: &sdk.FinishSpec{Schema: json.RawMessage(`{"type":"object"}`), Prove: sdk.Proofs(), Validator: "judge"},
	}
	var back sdk.Agent
	if err := json.Unmarshal(encode(a), &back); err != nil {
		t.Fatal(err)
	}
	if back.Digest() != a.Digest() || back.MCP == nil || back.Skills == nil || back.Bound.MCP == nil || back.UsesMCP("any") {
		t.Errorf("%+v became %+v", a, back)
	}
}

// TestMayDo: who is held to the tools of another agent is not told to have all.
func TestMayDo(t *testing.T) {
	const some = "with 2 tools"
	for _, c := range []struct {
		agent sdk.Agent
		with  string
	}{
		{sdk.Agent{Bound: &sdk.Bound{}}, "with every tool"},
		{sdk.Agent{Bound: &sdk.Bound{Tools: []string{"read_*"}}}, some},
		{sdk.Agent{Bound: &sdk.Bound{MCP: []string{}}}, some},
		{sdk.Agent{Without: []string{"bash"}}, some},
		{sdk.Agent{MCP: []string{}}, some},
	} {
		if got := mayDo(c.agent, sdk.ModeFull, 2); !strings.HasSuffix(got, c.with) {
			t.Errorf("%+v %s", c.agent, got)
		}
	}
}
