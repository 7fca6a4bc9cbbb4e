package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// asksWhere is a question with a field that is a secret.
const asksWhere = `{"message":"Where to?","schema":{"type":"object","properties":{"city":{"type":"string"},"key":{"type":"string","format":"password"}},"required":["city"]}}`

// inquiring is a house in which the tool wrap asks the person, and answers with what it got.
func inquiring(t *testing.T, question string, steps ...step) *askingHouse {
	h := prepareAsking(t, steps...)
	h.calling("wrap", invoking(call{sdk.ToolAskUser, question}))
	h.tools.on("wrap", func(ctx context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		r, err := h.config.Services.Invoke(ctx, caller(c), sdk.ToolAskUser, []byte(question))
		if err != nil {
			return sdk.ToolResult{}, err
		}
		return ok("got " + string(r.Structured))
	})
	return h
}

// TestAQuestionIsAProposal: the run waits, in every mode, until a person answers; the plugin alone has
// the answer, which the tool of this test then passes on to the model.
func TestAQuestionIsAProposal(t *testing.T) {
	for _, mode := range []sdk.Mode{sdk.ModeInteractive, sdk.ModeFull} {
		for _, c := range []struct {
			answer     sdk.Answer
			data, want string
		}{
			{sdk.Accept, `{"city":"Bern","key":"hunter2hunter2"}`, `got {"answer":"accept","data":{"city":"Bern","key":"hunter2hunter2"}}`},
			{sdk.Reject, "", `got {"answer":"reject"}`},
			{sdk.Cancel, "", `got {"answer":"cancel"}`},
		} {
			t.Run(fmt.Sprintf("%s %s", mode, c.answer), func(t *testing.T) {
				h := inquiring(t, asksWhere, calls(call{"wrap", "{}"}))
				var concealed []string
				h.config.Conceal = func(text string) { concealed = append(concealed, text) }
				h.start()
				a := h.submit(Submission{Mode: mode})
				p := h.proposed()
				if p.Tool != sdk.ToolAskUser || p.Plugin != "fake" || p.Path != "log://turn_1/ask_user/call" || p.Question == nil || p.Question.Message != "Where to?" ||
					len(p.Offers) != 0 || !p.Expires.Equal(p.Created.Add(time.Hour)) || p.Decision.Rule != ruleQuestion {
					t.Fatalf("asked %s", encode(p))
				}
				if run, err := h.store.Run(t.Context(), a.Run.ID); err != nil || run.Status != sdk.StatusProposed {
					t.Errorf("the run is at %d, %v", run.Status, err)
				}
				h.resolve(rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: c.answer, Data: json.RawMessage(c.data)})
				if l := h.await(a); l.Stop != sdk.StopAnswer {
					t.Errorf("ended %d %s: %s", l.Status, l.Stop, l.Reason)
				}
				all := h.actions(a.Run.ID)
				if all[0].Body != c.want || h.outcomes(a.Run.ID) != "wrap:resolved ask_user:resolved" {
					t.Errorf("%s: %q", h.outcomes(a.Run.ID), all[0].Body)
				}
				if x, err := sdk.ActionOf(all[1]); err != nil || x.Answer == nil || x.Answer.Answer != c.answer || strings.Contains(string(encode(all[1])), "Bern") {
					t.Errorf("recorded %s", encode(all[1]))
				}
				if got := strings.Join(concealed, " "); c.answer == sdk.Accept && got != "hunter2hunter2" || c.answer != sdk.Accept && got != "" {
					t.Errorf("concealed %q", got)
				}
				h.check(a.Run.ID)
			})
		}
	}
}

// TestAnswersThatDoNotFit: each changes nothing, and the question still waits.
func TestAnswersThatDoNotFit(t *testing.T) {
	h := inquiring(t, asksWhere, calls(call{"wrap", "{}"}))
	h.start()
	a := h.submit(Submission{})
	p := h.proposed()
	for name, r := range map[string]rpc.Resolve{
		"no data":       {Answer: sdk.Accept},
		"not an object": {Answer: sdk.Accept, Data: json.RawMessage(`["Bern"]`)},
		"no city":       {Answer: sdk.Accept, Data: json.RawMessage(`{}`)},
		"a number":      {Answer: sdk.Accept, Data: json.RawMessage(`{"city":1}`)},
		"more":          {Answer: sdk.Accept, Data: json.RawMessage(`{"city":"Bern","zip":"1"}`)},
		"a no of data":  {Answer: sdk.Reject, Data: json.RawMessage(`{"city":"Bern"}`)},
		"an edit":       {Answer: sdk.Edit, Arguments: json.RawMessage(asksWhere)},
		"another word":  {Answer: "yes"},
		"remembered":    {Answer: sdk.Accept, Data: json.RawMessage(`{"city":"Bern"}`), Remember: sdk.RememberCall},
	} {
		r.ID, r.Hash = p.ID, p.Hash
		if _, err := h.engine.Resolve(t.Context(), r); sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("%s: %v", name, err)
		}
	}
	h.resolve(rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Accept, Data: json.RawMessage(`{"city":"Bern"}`)})
	h.await(a)
	if _, err := h.engine.Resolve(t.Context(), rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Reject}); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("a second answer: %v", err)
	}
	if got := h.actions(a.Run.ID)[0].Body; got != `got {"answer":"accept","data":{"city":"Bern"}}` {
		t.Error(got)
	}
}

// TestDataAnswersNoCall: what is proposed to run takes none.
func TestDataAnswersNoCall(t *testing.T) {
	h := newAsking(t, calls(numbered("write", 1)))
	a := h.submit(Submission{})
	p := h.proposed()
	if _, err := h.engine.Resolve(t.Context(), rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Accept, Data: json.RawMessage(`{}`)}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Error(err)
	}
	if _, err := h.engine.Resolve(t.Context(), rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Cancel}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Error(err)
	}
	h.answer(p, sdk.Accept)
	h.await(a)
}

// TestQuestionsThatCannotBeAsked: the plugin is told why, and nothing waits.
func TestQuestionsThatCannotBeAsked(t *testing.T) {
	for name, c := range map[string]struct {
		question string
		mode     sdk.Mode
		says     string
	}{
		"nobody is there": {asksWhere, sdk.ModeRestricted, "nobody is there who could be asked"},
		"no message":      {`{"message":" "}`, sdk.ModeInteractive, "has no message"},
		"no question":     {`{"text":"x"}`, sdk.ModeInteractive, "cannot be read"},
		"a deep schema":   {`{"message":"m","schema":{"properties":{"a":{"type":"object"}}}}`, sdk.ModeInteractive, "of the type"},
		"a file":          {`{"message":"m","url":"file:///etc/passwd"}`, sdk.ModeInteractive, "none of http or https"},
	} {
		t.Run(name, func(t *testing.T) {
			h := inquiring(t, c.question, calls(call{"wrap", "{}"}))
			h.start()
			a := h.submit(Submission{Mode: c.mode})
			h.await(a)
			if all := h.actions(a.Run.ID); len(all) != 1 || !strings.Contains(all[0].Body, c.says) {
				t.Errorf("%d actions, %q", len(all), all[0].Body)
			}
			h.check(a.Run.ID)
		})
	}
	h := inquiring(t, asksWhere)
	h.start()
	if done := h.call(ToolCall{Project: h.project, Tool: "wrap"}); !strings.Contains(done.Result.Output, "no prompt caused") {
		t.Errorf("without a prompt: %+v", done.Result)
	}
}

// TestAQuestionEndsWithItsCall: when the call is aborted, or the daemon dies, the question is withdrawn
// with the reason, and the run does not wait for it.
func TestAQuestionEndsWithItsCall(t *testing.T) {
	t.Run("aborted", func(t *testing.T) {
		h := inquiring(t, asksWhere, calls(call{"wrap", "{}"}))
		h.start()
		a := h.submit(Submission{})
		p := h.proposed()
		if err := h.engine.Abort(t.Context(), a.Run.ID); err != nil {
			t.Fatal(err)
		}
		h.await(a)
		h.withdrawn(a.Run.ID, p)
		h.check(a.Run.ID)
	})
	t.Run("the daemon died", func(t *testing.T) {
		h := inquiring(t, asksWhere, calls(call{"wrap", "{}"}))
		for i := range h.tools.specs { // it is not made again
			h.tools.specs[i].Annotations = sdk.Annotations{}
		}
		h.policy.set(func(sdk.PolicyRequest) sdk.Decision { return sdk.Decision{Verdict: sdk.Allow, Rule: "all"} })
		h.start()
		a := h.submit(Submission{})
		p := h.proposed()
		h.cut()
		h.start()
		h.await(a)
		h.withdrawn(a.Run.ID, p)
		h.check(a.Run.ID)
	})
	t.Run("the call is made again", func(t *testing.T) {
		h := inquiring(t, asksWhere, calls(call{"wrap", "{}"}))
		h.start()
		a := h.submit(Submission{})
		first := h.proposed()
		h.cut()
		h.start()
		var p sdk.Proposal
		h.until("it is asked anew", func() bool { p = h.proposed(); return p.ID != first.ID })
		h.resolve(rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Reject})
		h.await(a)
		h.withdrawn(a.Run.ID, first)
		h.check(a.Run.ID)
	})
}

// withdrawn holds that a question was, and that it takes no answer any more.
func (h *askingHouse) withdrawn(run int64, p sdk.Proposal) {
	h.t.Helper()
	e, err := h.store.Entry(context.Background(), run, p.Path)
	if err != nil || e.State != sdk.StateCancelled || e.Outcome != sdk.Aborted || !strings.Contains(e.Body, "withdrawn") {
		h.t.Errorf("it ended %s %s %q %v", e.State, e.Outcome, e.Body, err)
	}
	if _, err := h.engine.Resolve(context.Background(), rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Reject}); sdk.OutcomeOf(err) != sdk.Conflict {
		h.t.Errorf("an answer to it: %v", err)
	}
}

// TestQuestionsComeOneByOne: those of calls that run together, too.
func TestQuestionsComeOneByOne(t *testing.T) {
	h := inquiring(t, asksWhere, calls(call{"wrap", `{"n":1}`}, call{"wrap", `{"n":2}`}, call{"wrap", `{"n":3}`}))
	h.start()
	a := h.submit(Submission{})
	for range 3 {
		p := h.proposed()
		if open, err := h.engine.Proposals(t.Context()); err != nil || len(open) != 1 {
			t.Fatalf("%d wait, %v", len(open), err)
		}
		// Two answer at once, and one of them counts.
		var both sync.WaitGroup
		var errs [2]error
		for n, answer := range []rpc.Resolve{{Answer: sdk.Accept, Data: json.RawMessage(`{"city":"Bern"}`)}, {Answer: sdk.Reject}} {
			answer.ID, answer.Hash = p.ID, p.Hash
			both.Go(func() { _, errs[n] = h.engine.Resolve(context.Background(), answer) })
		}
		both.Wait()
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Errorf("%v and %v", errs[0], errs[1])
		}
	}
	h.await(a)
	for _, e := range h.actions(a.Run.ID) {
		if e.State != sdk.StateResolved {
			t.Errorf("%s: %s %q", e.Path, e.State, e.Body)
		}
	}
	h.check(a.Run.ID)
}

// TestAQuestionExpires: nobody answered, which the plugin is told as a cancel.
func TestAQuestionExpires(t *testing.T) {
	clock := &setClock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	h := inquiring(t, asksWhere, calls(call{"wrap", "{}"}))
	h.config.Clock = clock.time
	h.start()
	a := h.submit(Submission{})
	h.proposed()
	clock.move(time.Hour + time.Second)
	h.nudge(a.Run.ID)
	h.await(a)
	all := h.actions(a.Run.ID)
	if all[0].Body != `got {"answer":"cancel"}` || all[1].Body != "nobody answered the question within 1h0m0s" || h.outcomes(a.Run.ID) != "wrap:resolved ask_user:cancelled:aborted" {
		t.Errorf("%s: %q, %q", h.outcomes(a.Run.ID), all[0].Body, all[1].Body)
	}
	h.check(a.Run.ID)
}
