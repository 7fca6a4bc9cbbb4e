package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestMisnamedBeforePolicy: an argument by another agent's name is told before policy, which
// cannot read the call, refuses it; no guard counts that, and nobody is asked.
func TestMisnamedBeforePolicy(t *testing.T) {
	h := prepareAsking(t,
		calls(call{"bash", `{"cmd":"ls"}`}), calls(call{"bash", `{"cmd":"ls -l"}`}), calls(call{"bash", `{"script":"ls -a"}`}), calls(call{"bash", `{"cmd":"ls -t"}`}), say("done"))
	h.tools.add("bash", sdk.Annotations{}, true, sdk.GrantSandbox)
	h.tools.become("bash", func(tool *sdk.Tool) {
		tool.Command, tool.Parameters = "command", json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)
	})
	h.policy.set(func(r sdk.PolicyRequest) sdk.Decision {
		return sdk.Decision{Verdict: sdk.Deny, Rule: "bad_arguments", Reason: "command is no text"}
	})
	h.start()
	a := h.submit(Submission{})
	if l := h.await(a); l.Stop != sdk.StopAnswer {
		t.Errorf("ended %d %q: %s", l.Status, l.Stop, l.Reason)
	}
	for _, e := range h.actions(a.Run.ID) {
		if e.Outcome != sdk.Misnamed || !strings.Contains(e.Body, "is command. This call was not made") {
			t.Errorf("%s: %s %q", e.Path, e.Outcome, e.Body)
		}
	}
	h.check(a.Run.ID)
}

// TestACallOfAnAgentWithoutTools is refused in a sentence that names none.
func TestACallOfAnAgentWithoutTools(t *testing.T) {
	h := prepareHouse(t, calls(numbered("read", 1)), say("done"))
	h.agents["talker"] = sdk.Agent{Name: "talker", Tools: []string{"!*"}}
	h.start()
	a := h.submit(Submission{Agent: "talker"})
	h.await(a)
	made := h.actions(a.Run.ID)
	if want := `agent "talker" may use no tools, so not "read" either: answer in plain text`; len(made) != 1 || made[0].Body != want {
		t.Errorf("got %+v, want %q", made, want)
	}
	h.check(a.Run.ID)
}
