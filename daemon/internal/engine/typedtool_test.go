package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/policy"
	"github.com/bothyd/bothy/sdk"
)

// TestTypedTool: a prompt that names a tool which only people call stands for what that answers, called
// in the project's own run and recorded there; people see what was typed.
func TestTypedTool(t *testing.T) {
	h := prepareHouse(t, say("done"))
	h.tools.add("mcp__notes__greet", sdk.Annotations{}, false)
	spec := &h.tools.specs[len(h.tools.specs)-1]
	spec.People, spec.Plugin, spec.Parameters = true, "mcp__notes", json.RawMessage(`{"type":"object","properties":{"who":{"type":"string"}},"required":["who"]}`)
	h.tools.on("mcp__notes__greet", func(_ context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		if strings.Contains(string(c.Arguments), "Nobody") {
			return sdk.ToolResult{Error: "there is nobody", Outcome: sdk.NotFound}, nil
		}
		return ok("Greet " + string(c.Arguments))
	})
	closed := h.agents["default"]
	closed.Network = new(false)
	h.agents["closed"] = closed
	h.start()
	if _, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Agent: "closed", Prompt: "/mcp__notes__greet Ada Lovelace", Approved: true}); err == nil || !strings.Contains(err.Error(), "network = false") {
		t.Errorf("for an agent without a network: %v", err)
	}
	if _, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Prompt: "/mcp__notes__greet Ada Lovelace"}); err == nil || !strings.Contains(err.Error(), "a person has to agree") {
		t.Errorf("for a client that may only submit: %v", err)
	}
	if _, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Prompt: "/mcp__notes__greet Ada Lovelace", Approved: true, ReadOnly: true}); err == nil || !strings.Contains(err.Error(), "this prompt only reads") {
		t.Errorf("for a prompt that only reads: %v", err)
	}
	a := h.submit(Submission{Prompt: "/mcp__notes__greet Ada Lovelace", Approved: true})
	l := h.await(a)
	if l.Prompt != "/mcp__notes__greet Ada Lovelace" {
		t.Errorf("the prompt is %q", l.Prompt)
	}
	asked := h.models.asked()[0]
	if last := asked.Messages[len(asked.Messages)-1].Text; !strings.Contains(last, `Greet {"who":"Ada Lovelace"}`) {
		t.Errorf("the model was asked %q", last)
	}
	for _, offered := range asked.Tools {
		if offered.Name == "mcp__notes__greet" {
			t.Error("the model is offered what only people call")
		}
	}
	if all := h.actions(a.Run.ID); len(all) != 0 {
		t.Errorf("the run has %+v", all)
	}
	if source := h.engine.foreign(a.Run.ID); source != "what mcp__notes__greet brought" {
		t.Errorf("the run is marked by %q", source)
	}
	for prompt, says := range map[string]string{
		"/mcp__notes__greet x=1 Nobody": "there is nobody", "/mcp__notes__wave": "To send this text as it is, begin it with a space", `/mcp__notes__greet "a`: "has no end",
	} {
		if _, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Prompt: prompt, Approved: true}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", prompt, err)
		}
	}
	for _, prompt := range []string{" /mcp__notes__greet", "/path/to it", "/mcp"} {
		h.await(h.submit(Submission{Prompt: prompt}))
	}
	h.check(a.Run.ID)
}

// TestTypedToolOfAServerThatIsAway: a server is started for a prompt that may be called, and for no other.
func TestTypedToolOfAServerThatIsAway(t *testing.T) {
	h := prepareHouse(t)
	h.config.Policy = policy.New(policy.Settings{Rules: []sdk.PolicyRule{
		{Name: "never", Verdict: sdk.Deny, Tools: []string{"mcp__shut__*"}},
		{Name: "not him", Verdict: sdk.Deny, Tools: []string{"mcp__some__*"}, Arguments: map[string]string{"who": "Nobody"}},
		{Name: "her", Verdict: sdk.Allow, Tools: []string{"mcp__some__*"}, Arguments: map[string]string{"who": "Ada"}},
	}})
	closed := h.agents["default"]
	closed.Network = new(false)
	h.agents["closed"] = closed
	h.start()
	for _, c := range []struct {
		prompt            string
		approved, channel bool
		starts            string
		says              string
		agent             string
	}{
		{"/mcp__notes__greet Ada", true, false, "[notes]", "there is no tool", ""},
		{"/mcp__notes__greet Ada", false, false, "", "mcp__notes__greet was not called: ", ""},
		{"/mcp__notes__greet Ada", true, true, "", "a person has to agree", ""},
		{"/mcp__shut__greet Ada", true, false, "", "mcp__shut__greet was not called: ", ""},
		{"/mcp__some__greet Ada", false, false, "[some]", "there is no tool", ""},
		{"/mcp__notes__greet Ada", true, false, "", "network = false", "closed"},
	} {
		h.tools.gathered = nil
		_, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Agent: c.agent, Prompt: c.prompt, Approved: c.approved, Origin: origin(c.channel)})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c, err)
		}
		started := ""
		for _, a := range h.tools.gathered {
			started += fmt.Sprint(a.MCP)
		}
		if started != c.starts {
			t.Errorf("%+v: started %q", c, started)
		}
	}
}

// TestCallOfAServerThatIsAway: a server is started for a call that may be made, and one that may not be is recorded
// as refused. What only reads may be made by anybody, where a person accepted the server.
func TestCallOfAServerThatIsAway(t *testing.T) {
	h := prepareHouse(t)
	h.config.Policy = policy.New(policy.Settings{Rules: []sdk.PolicyRule{
		{Name: "never", Verdict: sdk.Deny, Tools: []string{"mcp__shut__*"}},
		{Name: "not him", Verdict: sdk.Deny, Tools: []string{"mcp__some__*"}, Arguments: map[string]string{"who": "Nobody"}},
		{Name: "asked", Verdict: sdk.Propose, Tools: []string{"mcp__sure__ask"}},
	}})
	h.tools.accepted = "sure"
	h.start()
	for _, c := range []struct {
		tool, arguments   string
		approved, channel bool
		starts            string
		want              sdk.Outcome
	}{
		{"mcp__notes__greet", `{}`, true, false, "[notes]", sdk.NotFound},
		{"mcp__notes__greet", `{}`, false, false, "", sdk.Permission},
		{"mcp__notes__greet", `{}`, false, true, "", sdk.Permission},
		{"mcp__shut__greet", `{}`, true, false, "", sdk.Permission},
		{"mcp__some__greet", `{"who":"Nobody"}`, true, false, "", sdk.Permission},
		{"mcp__some__greet", `{"who":"Ada"}`, true, false, "[some]", sdk.NotFound},
		{"mcp__sure__greet", `{}`, false, false, "[sure]", sdk.NotFound},
		{"mcp__sure__ask", `{}`, false, false, "", sdk.Permission},
	} {
		h.tools.gathered = nil
		done, err := h.engine.CallTool(t.Context(), ToolCall{Project: h.project, Tool: c.tool, Arguments: json.RawMessage(c.arguments), Approved: c.approved, Origin: origin(c.channel)})
		if err != nil {
			t.Fatal(err)
		}
		started := ""
		for _, a := range h.tools.gathered {
			started += fmt.Sprint(a.MCP)
		}
		if done.Result.Success || done.Entry.Outcome != c.want || started != c.starts {
			t.Errorf("%+v: started %q, and it is %s: %s", c, started, done.Entry.Outcome, done.Result.Error)
		}
	}
}

// TestOnlyPeopleCall: neither a model nor a plugin calls such a tool; a person does by its name.
func TestOnlyPeopleCall(t *testing.T) {
	h := prepareHouse(t, calls(call{"secretive", "{}"}), calls(call{"wrap", "{}"}))
	h.tools.add("secretive", sdk.Annotations{ReadOnly: true}, true)
	h.tools.specs[len(h.tools.specs)-1].People = true
	h.calling("wrap", invoking(call{"secretive", "{}"}))
	h.start()
	a := h.submit(Submission{})
	h.await(a)
	if got := h.outcomes(a.Run.ID); !strings.Contains(got, "secretive:failed:not_found") || strings.Contains(got, "secretive:resolved") {
		t.Error(got)
	}
	if done := h.call(ToolCall{Project: h.project, Tool: "secretive"}); !done.Result.Success {
		t.Errorf("a person: %+v", done.Result)
	}
}
