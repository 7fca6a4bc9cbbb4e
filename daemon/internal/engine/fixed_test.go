package engine

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// finder adds a tool that finds the command which its calls run.
func finder(h *house, stage func(sdk.Invocation) (sdk.Staged, error)) {
	h.tools.add("tests", sdk.Annotations{Destructive: true}, true, sdk.GrantSandbox)
	h.tools.become("tests", func(tool *sdk.Tool) {
		tool.Command, tool.Staged = "command", true
		tool.Parameters = json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"},"dir":{"type":"string"}}}`)
	})
	h.tools.stage = stage
}

// TestAFoundCommandIsJudged: the line that a tool finds is in the call before hooks and policy look at it, is what runs,
// and is not looked for again by a daemon that takes the call up.
func TestAFoundCommandIsJudged(t *testing.T) {
	h := prepareAsking(t, calls(call{"tests", `{"dir":"a"}`}), say("done"))
	asked := 0
	finder(h.house, func(call sdk.Invocation) (sdk.Staged, error) {
		asked++
		if string(call.Arguments) != `{"dir":"a"}` {
			t.Errorf("asked about %s", call.Arguments)
		}
		return sdk.Staged{Command: "make check", Base: "b"}, nil
	})
	var hooked, judged string
	h.hooks.EntryRecording.On(10, "test", false, func(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
		hooked = string(r.Attributes)
		return r, nil
	})
	h.policy.set(func(r sdk.PolicyRequest) sdk.Decision {
		judged = string(r.Arguments)
		return sdk.Decision{Verdict: sdk.Allow, Rule: "test"}
	})
	begun := make(chan struct{}, 1)
	h.tools.on("tests", waiting(begun))
	h.start()
	a := h.submit(Submission{})
	<-begun
	h.cut()
	h.tools.on("tests", nil)
	h.tools.settles = map[string]sdk.ToolResult{"tests": {Success: true, Output: "3 passed"}}
	h.start()
	if l := h.await(a); l.Status != 200 {
		t.Fatalf("ended %d: %s", l.Status, l.Reason)
	}
	const want = `{"command":"make check","dir":"a"}`
	if judged != want || !strings.Contains(hooked, `"command":"make check"`) || string(h.tools.made[0].Arguments) != want || asked != 1 {
		t.Errorf("asked %d times; hooks saw %s, policy %s, the tool %s", asked, hooked, judged, h.tools.made[0].Arguments)
	}
	if got := inOneForm(t, attributes(t, h.actions(a.Run.ID)[0]).Arguments); got != want {
		t.Errorf("the action has %s", got)
	}
	h.check(a.Run.ID)
}

// TestNobodyNamesAFoundCommand: a call that names its line, one for which none is found, and one whose tool says none is
// not made, and the model is told why.
func TestNobodyNamesAFoundCommand(t *testing.T) {
	for name, c := range map[string]struct {
		arguments string
		staged    sdk.Staged
		err       error
		outcome   sdk.Outcome
		said      string
	}{
		"named":     {`{"command":"true"}`, sdk.Staged{Command: "make check"}, nil, sdk.Validation, "tests finds its command itself, so leave command out"},
		"not found": {`{}`, sdk.Staged{}, sdk.Errorf(sdk.NotFound, "no tests were found"), sdk.NotFound, "no tests were found"},
		"not said":  {`{}`, sdk.Staged{Base: "b"}, nil, sdk.Unavailable, "tests does not say which command it runs"},
	} {
		t.Run(name, func(t *testing.T) {
			h := prepareHouse(t, calls(call{"tests", c.arguments}), say("done"))
			finder(h, func(sdk.Invocation) (sdk.Staged, error) { return c.staged, c.err })
			h.start()
			a := h.submit(Submission{})
			h.await(a)
			if made := h.actions(a.Run.ID); len(h.tools.made) != 0 || len(made) != 1 || made[0].Outcome != c.outcome || !strings.Contains(made[0].Body, c.said) {
				t.Errorf("%d calls were made; the action is %s", len(h.tools.made), encode(made))
			}
			h.check(a.Run.ID)
		})
	}
}

// TestACommandThatIsFoundRunsNoOther: sh and env are made by the tool whose callers name the line.
func TestACommandThatIsFoundRunsNoOther(t *testing.T) {
	h := prepareHouse(t)
	finder(h, nil)
	if got := withCommands(sdk.Agent{Tools: []string{"*", "sh"}}, h.tools.Tools()); len(got) != len(h.tools.Tools()) {
		t.Errorf("%s runs sh", got[0].Runs)
	}
}

// TestAnEditKeepsTheFoundCommand: a person may write another line in the place of the one that was found, and is told what is
// missing where none is left. The proposal then waits as it was.
func TestAnEditKeepsTheFoundCommand(t *testing.T) {
	h := prepareAsking(t, calls(call{"tests", `{"dir":"a"}`}), say("done"))
	finder(h.house, func(sdk.Invocation) (sdk.Staged, error) {
		return sdk.Staged{Command: "make check", Base: "b"}, nil
	})
	h.policy.set(func(r sdk.PolicyRequest) sdk.Decision {
		if strings.Contains(string(r.Arguments), "make fast") {
			return sdk.Decision{Verdict: sdk.Allow, Rule: "test"}
		}
		return sdk.Decision{Verdict: sdk.Propose, Rule: "test"}
	})
	h.start()
	a := h.submit(Submission{})
	p := h.proposed()
	for _, edited := range []string{`{}`, `{"dir":"b"}`, `{"command":" "}`, `{"command":1}`} {
		_, err := h.engine.Resolve(t.Context(), rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Edit, Arguments: json.RawMessage(edited)})
		if sdk.OutcomeOf(err) != sdk.Validation || !strings.Contains(err.Error(), "the edit has no command") || !strings.Contains(err.Error(), "make check") {
			t.Errorf("%s: %v", edited, err)
		}
		if now := h.proposed(); string(encode(now)) != string(encode(p)) {
			t.Errorf("%s: it is %+v now", edited, now)
		}
	}
	h.resolve(rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Edit, Arguments: json.RawMessage(`{"command":"make fast"}`)})
	h.await(a)
	if h.ran() != `tests{"command":"make fast"}` {
		t.Error(h.ran())
	}
	h.check(a.Run.ID)
}
