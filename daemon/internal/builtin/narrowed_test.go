package builtin

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestOnlyTheAgentsSkills: an agent whose block names skills is told of those and uses no others, also where the run
// has loaded one with another agent, or a person types its name.
func TestOnlyTheAgentsSkills(t *testing.T) {
	now := &few{sample("greet", "hello"), sample("part", "bye")}
	s := newFakeRun().builtin(now)
	if r := useOnce(t, s, `{"name":"part"}`); !r.Success {
		t.Fatal(r.Error)
	}
	use := func(skills []string, name string) (told string, offered bool, r sdk.ToolResult) {
		turn, err := s.Turn(t.Context(), sdk.TurnContext{
			Run: sdk.Run{ID: 1}, Loop: sdk.Loop{ID: 1, Agent: "a"}, Skills: skills, Context: 100_000, Commit: s.skills.cfg.Entries.(*fakeRun).Commit,
		})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(turn.Tools(), func(t sdk.Tool) bool { return t.Name == UseSkill }) {
			return "", false, r
		}
		r, err = turn.Invoke(t.Context(), sdk.Invocation{Tool: UseSkill, Arguments: json.RawMessage(`{"name":"` + name + `"}`), RunDir: "/r"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return turn.System(), true, r
	}
	for range 2 { // what was listed for one agent is not told to another
		told, _, r := use([]string{"greet"}, "part")
		if !strings.Contains(told, "greet") || strings.Contains(told, "part") || r.Outcome != sdk.Permission || !strings.Contains(r.Error, "may not use the skill part; it has: greet") {
			t.Errorf("one of another agent: %+v, told %s", r, told)
		}
		if told, _, r = use(nil, "part"); !strings.Contains(told, "part") || !r.Success {
			t.Errorf("an agent that has all: %+v, told %s", r, told)
		}
	}
	if _, _, r := use([]string{"greet"}, "greet"); !r.Success {
		t.Errorf("its own: %+v", r)
	}
	if _, _, r := use([]string{"greet"}, "grete"); strings.Contains(r.Error, "part") {
		t.Errorf("another one is told of: %s", r.Error)
	}
	if told, offered, _ := use([]string{}, "greet"); offered || told != "" {
		t.Errorf("an agent without any is offered the tool, and told %q", told)
	}
	for name, allowed := range map[string]bool{"/greet x": true, "/part x": false} {
		_, err := s.Typed(t.Context(), sdk.TurnContext{Run: sdk.Run{ID: 1}, Loop: sdk.Loop{Agent: "a"}, Skills: []string{"greet"}, Admits: func(sdk.Tool) bool { return true }}, name)
		if allowed != (err == nil) || !allowed && sdk.OutcomeOf(err) != sdk.Permission {
			t.Errorf("%s: %v", name, err)
		}
	}
}
