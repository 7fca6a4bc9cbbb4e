package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

const (
	resultSchema = `{"type":"object","properties":{"summary":{"type":"string"},"tests_verified":{"type":"boolean"},"citations":{"type":"array","items":{"type":"string"}}},"required":["summary","tests_verified"]}`
	goodResult   = `{"summary":"done","tests_verified":true}`
)

// handOver is a call of finish_task.
func handOver(result string) call { return call{sdk.ToolFinish, result} }

// finishing is a house whose agent "it" has to hand a result over.
func finishing(t *testing.T, spec sdk.FinishSpec, steps ...step) *house {
	h := prepareHouse(t, steps...)
	h.withSkills()
	spec.Schema = json.RawMessage(resultSchema)
	h.agents["it"] = sdk.Agent{Tools: []string{"read*", "write", "finish"}, Finish: &spec, Guards: sdk.Guards{MaxTurns: 9, RepeatedCalls: 2, ConsecutiveErrors: 3}}
	h.config.Results.Done = h.done
	return h
}

// done is what was done for a prompt, and for those that it goes on with: every call of them that has its end.
func (h *house) done(ctx context.Context, l sdk.Loop, before ...sdk.Loop) (done []sdk.WorkDone, err error) {
	of := map[int64]bool{l.ID: true}
	for _, b := range before {
		of[b.ID] = true
	}
	all, err := h.store.Entries(ctx, sdk.EntryQuery{Run: l.Run, Pattern: "log://**"})
	for _, e := range all {
		if at, err := sdk.ActionOf(e); err == nil && of[e.Loop] && e.Phase == sdk.PhaseEnded {
			done = append(done, sdk.WorkDone{Path: e.Path, Tool: at.Tool, Plugin: at.Plugin, Success: e.State == sdk.StateResolved})
		}
	}
	return done, err
}

// TestResultOfAResumedPrompt: what was done before it was cut short was done for it too.
func TestResultOfAResumedPrompt(t *testing.T) {
	cut := failing(sdk.Errorf(sdk.Internal, "no answer today"))
	h := finishing(t, sdk.FinishSpec{}, calls(numbered("read", 1)), cut, cut, calls(handOver(goodResult)), say("a new prompt"), calls(handOver(goodResult)), cut)
	h.start()
	a := h.submit(Submission{Agent: "it"})
	for range 2 {
		if l := h.await(a); l.Stop != sdk.StopFailed {
			t.Fatalf("it ended with %+v", l)
		}
		var err error
		if a, err = h.engine.Resume(t.Context(), a.Run.ID); err != nil {
			t.Fatal(err)
		}
	}
	if l := h.await(a); l.Stop != sdk.StopTerminal {
		t.Errorf("it ended with %+v", l)
	}
	h.run(Submission{Run: a.Run.Alias, Agent: "it"})
	if got, want := h.outcomes(a.Run.ID), "read:resolved finish_task:resolved finish_task:failed:validation"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	h.check(a.Run.ID)
}

// TestFinishReadOnly: a prompt that may only read hands its result over like any other.
func TestFinishReadOnly(t *testing.T) {
	h := finishing(t, sdk.FinishSpec{}, calls(numbered("read", 1)), calls(handOver(goodResult)))
	h.start()
	a := h.submit(Submission{Agent: "it", ReadOnly: true})
	if l := h.await(a); l.Stop != sdk.StopTerminal {
		t.Errorf("ended %q: %s", l.Stop, l.Reason)
	}
	last := h.actions(a.Run.ID)[1]
	if at, err := sdk.ActionOf(last); err != nil || !at.Finished() || string(at.ExactArguments()) != goodResult {
		t.Errorf("its result is %s, %v", at.ExactArguments(), err)
	}
	h.check(a.Run.ID)
}

// TestFinishTellsWhatIsMissing: the model reads every name that is missing, and corrections as prompts behind its answers.
func TestFinishTellsWhatIsMissing(t *testing.T) {
	h := finishing(t, sdk.FinishSpec{}, say("Done!"), calls(numbered("read", 1)), calls(handOver(`{}`)), calls(handOver(goodResult)))
	h.start()
	h.run(Submission{Agent: "it"})
	asked := h.models.asked()
	if system := asked[0].Messages[0]; !strings.Contains(system.Text, "does not end it") {
		t.Errorf("the system text is %q", system.Text)
	}
	if m := asked[1].Messages; len(m) != 4 || m[2].Text != "Done!" || m[3].Role != sdk.RoleUser || !strings.Contains(m[3].Text, sdk.ToolFinish) {
		t.Errorf("behind the plain text it is sent %+v", m)
	}
	last := asked[3].Messages
	if text := last[len(last)-1].Text; !strings.Contains(text, `"summary", "tests_verified" are required and missing`) {
		t.Errorf("it is told %q", text)
	}
}

// TestAcceptedOnce: what the store holds as accepted ends the loop when it is taken up, whatever the agent has become.
func TestAcceptedOnce(t *testing.T) {
	r := newRuin(t)
	r.opened()
	body := "accepted"
	end := at(0, sdk.ToolFinish, sdk.PhaseEnded, sdk.StateResolved, "")
	end.Body, end.Create = &body, true
	end.Attributes = encode(sdk.ActionCall{CallID: "id0", Tool: sdk.ToolFinish, Plugin: sdk.OwnPlugin, Arguments: json.RawMessage(goodResult)})
	r.left(sdk.Change{Writes: []sdk.Write{answered(sdk.ToolFinish), end}})
	r.start()
	if l := r.await(Accepted{Run: r.run, Loop: r.loops[0]}); l.Stop != sdk.StopTerminal || l.Status != sdk.StatusOK {
		t.Errorf("ended %q with %d: %s", l.Stop, l.Status, l.Reason)
	}
}

// TestValidator: the plugin is asked once all else holds; what it misses is told, and one that fails is no error of the
// model's, and ends the loop the third time.
func TestValidator(t *testing.T) {
	var asked []sdk.Work
	answers := []func() (sdk.Judgement, error){
		func() (sdk.Judgement, error) { return sdk.Judgement{Missing: []string{"name the file"}}, nil },
		func() (sdk.Judgement, error) { return sdk.Judgement{}, errors.New("it crashed") },
		func() (sdk.Judgement, error) { return sdk.Judgement{}, nil },
		func() (sdk.Judgement, error) { return sdk.Judgement{Accepted: true}, nil },
	}
	give := calls(handOver(goodResult))
	h := finishing(t, sdk.FinishSpec{Validator: "judge"}, give, calls(numbered("read", 1)), give, calls(numbered("read", 2)), give, give, calls(numbered("read", 3)), give)
	h.config.Results.Validate = func(_ context.Context, plugin string, w sdk.Work) (sdk.Judgement, error) {
		asked = append(asked, w)
		if plugin != "judge" || w.Agent != "it" || w.Prompt != "do it" || string(w.Result) != goodResult || len(w.Done) == 0 || w.Key == "" || w.CallID == "" || w.Project != h.project || w.RunDir == "" || w.Model != "fake/m" {
			t.Errorf("%s is asked about %+v", plugin, w)
		}
		return answers[len(asked)-1]()
	}
	h.start()
	a := h.submit(Submission{Agent: "it"})
	if l := h.await(a); l.Stop != sdk.StopTerminal || len(asked) != 4 {
		t.Errorf("ended %q after %d judgements: %s", l.Stop, len(asked), l.Reason)
	}
	want := "finish_task:failed:validation read:resolved finish_task:failed:validation read:resolved finish_task:failed:again finish_task:failed:validation read:resolved finish_task:resolved"
	if got := h.outcomes(a.Run.ID); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if body := h.actions(a.Run.ID)[2].Body; !strings.Contains(body, "name the file") {
		t.Errorf("it is told %q", body)
	}
	h.check(a.Run.ID)
}

// TestSchemaOfAPrompt: any agent hands a result over where the prompt has a schema, also when it is resumed; the proofs of
// its own stay.
func TestSchemaOfAPrompt(t *testing.T) {
	const schema = `{ "type": "object", "properties": {"n": {"type": "integer", "description": "a < b"}}, "required": ["n"] }`
	give := calls(handOver(`{"n":3}`))
	h := finishing(t, sdk.FinishSpec{Prove: []string{sdk.ProofTests}}, calls(numbered("read", 1)), calls(handOver(`{"n":"3"}`)), say("3"), say("3"), say("3"), calls(numbered("read", 1)), give)
	h.start()
	s := Submission{Agent: "default", Schema: json.RawMessage(schema), Key: "k", Prompt: "how many?"}
	a := h.submit(s)
	if l := h.await(a); l.Stop != sdk.StopNotFinished {
		t.Fatalf("ended %q: %s", l.Stop, l.Reason)
	}
	if again := h.submit(s); again.Loop.ID != a.Loop.ID {
		t.Error("the same prompt is another one")
	}
	s.Schema, s.Project = json.RawMessage(`{"type":"object"}`), h.project
	if _, err := h.engine.Submit(t.Context(), s); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("with another schema: %v", err)
	}
	resumed, err := h.engine.Resume(t.Context(), a.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if l := h.await(resumed); l.Stop != sdk.StopTerminal {
		t.Errorf("resumed, it ended %q: %s", l.Stop, l.Reason)
	}
	h.run(Submission{Agent: "default", Prompt: "without one"})
	if kept := h.definitions(); len(kept) != 1 {
		t.Errorf("of one agent %v are kept", kept)
	}
	for text, agent := range map[string]string{`{"type":"array"}`: "default", `{"type":"object"`: "default", `{"type":"object","properties":{"n":{}}}`: "it"} {
		if _, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Agent: agent, Prompt: "x", Schema: json.RawMessage(text)}); sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("%s: %v", text, err)
		}
	}
	h.check(a.Run.ID)
}

// TestFinishOfAChild: what a child hands over, by its own gates, is the result of the call that delegated the work; a
// child that hands nothing over has not done it. Its calls are work of the one that delegated.
func TestFinishOfAChild(t *testing.T) {
	h := delegatingHouse(t, map[string][]step{
		"do it": {calls(handOver(goodResult)), calls(giving("worker", "good")), calls(giving("worker", "bad")), calls(handOver(goodResult))},
		"good":  {calls(handOver(goodResult)), calls(numbered("read", 1)), calls(handOver(`{}`)), calls(handOver(goodResult))},
		"bad":   {say("a"), say("b"), say("c")},
	})
	for _, name := range []string{"lead", "worker"} {
		agent := h.agents[name]
		agent.Finish = &sdk.FinishSpec{Schema: json.RawMessage(resultSchema)}
		h.agents[name] = agent
	}
	h.config.Results.Done = h.done
	h.start()
	a := h.submit(Submission{Agent: "lead"})
	if l := h.await(a); l.Stop != sdk.StopTerminal {
		t.Fatalf("the loop ended with %+v", l)
	}
	if got, want := h.outcomes(a.Run.ID), "finish_task:failed:validation delegate:resolved delegate:failed:unfinished finish_task:resolved"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	calls := h.actions(a.Run.ID)
	if good, bad := calls[1].Body, calls[2].Body; !strings.Contains(good, `"tests_verified"`) || !strings.Contains(bad, "plain text") {
		t.Errorf("the calls that delegated came to %q and %q", good, bad)
	}
	if got, want := h.outcomes(h.childrenIn(a.Run.ID)[0].ID), "finish_task:failed:validation read:resolved finish_task:failed:validation finish_task:resolved"; got != want {
		t.Errorf("the child did %s\nwant %s", got, want)
	}
}

// TestFinishAtAnyDeath: a daemon may die at each of its writes, of which it hears or not. One result is accepted, by which the
// loop ends, and the model was told once of its plain text.
func TestFinishAtAnyDeath(t *testing.T) {
	script := []step{say("Done!"), calls(numbered("read", 1)), calls(handOver(`{}`)), calls(handOver(goodResult))}
	atAnyDeath(t, func(h *house) {
		agent := h.agents["default"]
		agent.Finish = &sdk.FinishSpec{Schema: json.RawMessage(resultSchema)}
		h.agents["default"] = agent
		h.config.Results.Done = h.done
		h.models.each = func(req sdk.Request) step { // as far as the conversation is
			n := 0
			for _, m := range req.Messages {
				if m.Role == sdk.RoleAssistant {
					n++
				}
			}
			return script[min(n, len(script)-1)]
		}
	}, nothingMore, func(h *house, a Accepted, _ bool) {
		if l := h.loop(a); l.Stop != sdk.StopTerminal {
			t.Errorf("ended %q: %s", l.Stop, l.Reason)
		}
		accepted, told := 0, 0
		for _, e := range h.entries(a.Run.ID, "log://") {
			if at, err := sdk.ActionOf(e); err == nil && at.Finished() {
				accepted++
			}
			if e.Path == sdk.CorrectionPath(1) {
				told++
			}
		}
		if accepted != 1 || told != 1 {
			t.Errorf("%d results are accepted, and it was told %d times: %s", accepted, told, h.outcomes(a.Run.ID))
		}
	})
}

// TestChildIsJudged: what a child hands over its own validator judges, as the child's work, and what is accepted is what its
// caller is told.
func TestChildIsJudged(t *testing.T) {
	give := calls(handOver(goodResult))
	h := delegatingHouse(t, map[string][]step{
		"do it": {calls(giving("worker", "look at it"))}, "look at it": {calls(numbered("read", 1)), give, calls(numbered("read", 2)), give},
	})
	worker := h.agents["worker"]
	worker.Finish = &sdk.FinishSpec{Schema: json.RawMessage(resultSchema), Validator: "judge"}
	h.agents["worker"] = worker
	var asked []sdk.Work
	h.config.Results = Results{Done: h.done, Validate: func(_ context.Context, _ string, w sdk.Work) (sdk.Judgement, error) {
		asked = append(asked, w)
		return sdk.Judgement{Accepted: len(asked) == 2, Missing: []string{"name the file"}[len(asked)/2:]}, nil
	}}
	h.start()
	a := h.submit(Submission{Agent: "lead"})
	if l := h.await(a); l.Status != sdk.StatusOK {
		t.Fatalf("the loop ended with %+v", l)
	}
	child := h.childrenIn(a.Run.ID)[0]
	if got, want := h.outcomes(child.ID), "read:resolved finish_task:failed:validation read:resolved finish_task:resolved"; got != want {
		t.Errorf("the child did %s, want %s", got, want)
	}
	if len(asked) != 2 || asked[0].Agent != "worker" || asked[0].Run != child.Alias || asked[0].Key != child.Key || asked[0].Prompt != "look at it" {
		t.Errorf("asked about %+v", asked)
	}
	if call := h.actions(a.Run.ID)[0]; call.State != sdk.StateResolved || !strings.Contains(call.Body, `"tests_verified":true`) {
		t.Errorf("the caller is told %s %q", call.State, call.Body)
	}
	h.check(child.ID)
}
