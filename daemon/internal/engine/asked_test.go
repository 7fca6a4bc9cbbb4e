package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// aQuestion is one that a model asks.
const aQuestion = `{"question":"Which port?","options":["8080","9090"]}`

// asksPeople is a house whose agent has ask_user.
func asksPeople(t *testing.T, steps ...step) *askingHouse {
	h := prepareAsking(t, steps...)
	h.withSkills()
	h.agents["default"] = sdk.Agent{Mode: sdk.ModeInteractive, Tools: []string{"*", sdk.ToolAskUser}}
	return h
}

// TestAModelAsks: its question waits in every mode and where it may only read, through a restart, and
// the answer is the call's result.
// spec: mode_enforcement
func TestAModelAsks(t *testing.T) {
	for _, mode := range []sdk.Mode{sdk.ModeInteractive, sdk.ModeFull} {
		for _, c := range []struct {
			answer           sdk.Answer
			data, body, ends string
		}{
			{sdk.Accept, `{"answer":"9090"}`, "9090", sdk.StopAnswer},
			{sdk.Cancel, "", "the person did not choose an answer", sdk.StopAnswer},
			{sdk.Reject, "", "the person said no: leave this, and ask before you try the like again", sdk.StopRejected},
		} {
			for _, down := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %s down %v", mode, c.answer, down), func(t *testing.T) {
					h := asksPeople(t, calls(call{sdk.ToolAskUser, aQuestion}, call{"read", "{}"}), say("done"))
					h.start()
					a := h.submit(Submission{Mode: mode, ReadOnly: mode == sdk.ModeInteractive})
					p := h.proposed()
					if p.Tool != sdk.ToolAskUser || p.Plugin != "bothy" || p.Question == nil || p.Question.Message != "Which port?" || p.Decision.Rule != ruleQuestion || len(p.Offers) != 0 {
						t.Fatalf("asked %s", encode(p))
					}
					fields, err := p.Question.Fields()
					if err != nil || len(fields) != 1 || len(fields[0].Choices) != 2 {
						t.Fatalf("it asks for %+v, %v", fields, err)
					}
					if down {
						h.cut()
						h.start()
						p = h.proposed()
					}
					h.resolve(rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: c.answer, Data: json.RawMessage(c.data)})
					if l := h.await(a); l.Stop != c.ends {
						t.Errorf("ended %d %s: %s", l.Status, l.Stop, l.Reason)
					}
					if all := h.actions(a.Run.ID); all[0].Body != c.body || (h.ran() == "read{}") != (c.answer != sdk.Reject) {
						t.Errorf("%q, ran %q", all[0].Body, h.ran())
					}
					h.check(a.Run.ID)
				})
			}
		}
	}
}

// TestAModelThatCannotAsk is told so, and nothing waits.
func TestAModelThatCannotAsk(t *testing.T) {
	for name, c := range map[string]struct {
		arguments string
		options   rpc.RunOptions
		mode      sdk.Mode
		tools     []string
		says      string
	}{
		"no question":                 {arguments: `{"question":" "}`, says: "has no message"},
		"one option":                  {arguments: `{"question":"?","options":["a"]}`, says: "there are 2 to 20 options"},
		"something else":              {arguments: `{"question":"?","text":"a"}`, says: "cannot be read"},
		"nobody is there":             {mode: sdk.ModeRestricted, says: "nobody is there who could be asked"},
		"a run that asks nobody":      {options: rpc.RunOptions{NoInteraction: new(true)}, says: "was given without"},
		"a run that proposes nothing": {options: rpc.RunOptions{NoProposals: new(true)}, says: "was given without"},
		"an agent that has all":       {tools: []string{"*"}, says: "there is no tool"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.arguments == "" {
				c.arguments = aQuestion
			}
			h := asksPeople(t, calls(call{sdk.ToolAskUser, c.arguments}), say("done"))
			if c.tools != nil {
				h.agents["default"] = sdk.Agent{Mode: sdk.ModeInteractive, Tools: c.tools}
			}
			h.start()
			a := h.submit(Submission{Mode: c.mode, Options: c.options})
			h.await(a)
			if all := h.actions(a.Run.ID); len(all) != 1 || !strings.Contains(all[0].Body, c.says) {
				t.Errorf("%d actions, %q", len(all), all[0].Body)
			}
			for _, tool := range h.models.asked()[0].Tools {
				if offered := tool.Name == sdk.ToolAskUser; offered && (c.tools != nil || c.options != (rpc.RunOptions{})) {
					t.Error("it was offered")
				}
			}
			h.check(a.Run.ID)
		})
	}
}

// TestAnswersThatAModelsQuestionDoesNotTake: each changes nothing.
func TestAnswersThatAModelsQuestionDoesNotTake(t *testing.T) {
	h := asksPeople(t, calls(call{sdk.ToolAskUser, aQuestion}))
	h.start()
	a := h.submit(Submission{})
	p := h.proposed()
	for name, r := range map[string]rpc.Resolve{
		"no data":        {Answer: sdk.Accept},
		"another option": {Answer: sdk.Accept, Data: json.RawMessage(`{"answer":"22"}`)},
		"a no of data":   {Answer: sdk.Reject, Data: json.RawMessage(`{"answer":"8080"}`)},
		"an edit":        {Answer: sdk.Edit, Arguments: json.RawMessage(aQuestion)},
		"a rule":         {Answer: sdk.Accept, Data: json.RawMessage(`{"answer":"8080"}`), Remember: sdk.RememberCall},
	} {
		r.ID, r.Hash = p.ID, p.Hash
		if _, err := h.engine.Resolve(t.Context(), r); sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("%s: %v", name, err)
		}
	}
	h.resolve(rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Accept, Data: json.RawMessage(`{"answer":"8080"}`)})
	h.await(a)
	h.check(a.Run.ID)
}
