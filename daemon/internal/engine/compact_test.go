package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// compact queues a summary of a run and returns its loop when that has ended.
func (h *house) compact(run int64) sdk.Loop {
	h.t.Helper()
	a, err := h.engine.Compact(h.t.Context(), run)
	if err != nil || a.Mode != "" {
		h.t.Fatalf("mode %q of what makes no calls, %v", a.Mode, err)
	}
	return h.await(a)
}

// shown is the conversation of a request, without its system text: roles and the beginnings of texts.
func shown(r sdk.Request) string {
	var all []string
	for _, m := range r.Messages[1:] {
		text := m.Text[:min(len(m.Text), 40)]
		for _, c := range m.Calls {
			text += "+" + c.Tool
		}
		all = append(all, string(m.Role)+":"+text)
	}
	return strings.Join(all, "|")
}

// archived are the paths of a run's entries that are out of sight, and left those of its conversation that are not.
func (h *house) archived(run int64) (archived, left []string) {
	for _, prefix := range []string{"prompt://", "assistant://", "log://", "summary://"} {
		for _, e := range h.entries(run, prefix) {
			if e.Visibility == sdk.Archived {
				archived = append(archived, e.Path)
			} else {
				left = append(left, e.Path)
			}
		}
	}
	return archived, left
}

// TestCompact: the model writes a summary without any tool, what it stands for is archived, and the prompts that follow
// have the summary in its place; so has a second summary, and a fork from before has what was said.
func TestCompact(t *testing.T) {
	h := newHouse(t, calls(call{"read", `{"path":"a"}`}, call{"write", `{"path":"b"}`}), say("both are done"), say("  a is read, b is written \n"), say("third"), say("all of it"), say("last"), say("later"))
	a := h.submit(Submission{Run: "r", Prompt: "read a and write b"})
	h.await(a)
	l := h.compact(a.Run.ID)
	if l.Status != sdk.StatusOK || l.Stop != sdk.StopAnswer || l.Prompt != "/compact" {
		t.Fatalf("%+v", l)
	}
	asked := h.models.asked()[2]
	if len(asked.Tools) > 0 {
		t.Errorf("%d tools were offered", len(asked.Tools))
	}
	for _, m := range asked.Messages {
		if m.Role == sdk.RoleTool || len(m.Calls) > 0 {
			t.Errorf("it was shown %+v", m)
		}
	}
	if last := asked.Messages[len(asked.Messages)-1]; last.Role != sdk.RoleUser || !strings.Contains(last.Text, "Summarize this conversation") {
		t.Errorf("it was asked %q", last.Text)
	}
	archived, left := h.archived(a.Run.ID)
	if fmt.Sprint(left) != "[summary://2]" || len(archived) != 7 {
		t.Errorf("archived %v, left %v", archived, left)
	}
	e, err := h.store.Entry(t.Context(), a.Run.ID, "summary://2")
	var at sdk.Summary
	if err != nil || e.Body != "a is read, b is written" || json.Unmarshal(e.Attributes, &at) != nil || at.Prompts != 1 || at.Answers != 2 || at.Calls != 2 || at.Turn != 3 {
		t.Errorf("%+v, %v", e, err)
	}
	read, err := h.store.Entry(t.Context(), a.Run.ID, h.actions(a.Run.ID)[0].Path)
	if err != nil || read.Body == "" {
		t.Errorf("an archived result holds %q, %v", read.Body, err)
	}
	h.run(Submission{Run: "r", Prompt: "go on"})
	if got := shown(h.models.asked()[3]); got != "user:[What was said before this is left out. |user:go on" {
		t.Errorf("the next prompt is shown %s", got)
	}
	h.compact(a.Run.ID)
	h.run(Submission{Run: "r", Prompt: "and on"})
	asked = h.models.asked()[5]
	if got := shown(asked); got != "user:[What was said before this is left out. |user:and on" || !strings.HasSuffix(asked.Messages[1].Text, "all of it") {
		t.Errorf("behind the second summary there is %s", got)
	}
	fork, err := h.engine.Fork(t.Context(), Fork{Run: a.Run.ID, Turn: 2})
	if err != nil {
		t.Fatal(err)
	}
	h.run(Submission{Run: fork.Alias, Prompt: "elsewhere"})
	if got := shown(h.models.asked()[6]); strings.Count(got, "|") != 5 || !strings.Contains(got, "both are done") || strings.Contains(got, "left out") {
		t.Errorf("the fork is shown %s", got)
	}
	later, err := h.engine.Fork(t.Context(), Fork{Run: a.Run.ID, Turn: 4})
	if err != nil {
		t.Fatal(err)
	}
	h.run(Submission{Run: later.Alias, Prompt: "by the first"})
	if got := shown(h.models.asked()[7]); got != "user:[What was said before this is left out. |user:go on|assistant:third|user:by the first" {
		t.Errorf("a fork from between the summaries is shown %s", got)
	}
	h.check(a.Run.ID, fork.ID, later.ID)
}

// TestNoSummary: an answer that is none ends its loop as failed, and nothing is archived or called.
func TestNoSummary(t *testing.T) {
	for name, c := range map[string]struct {
		answer step
		says   string
	}{
		"nothing":        {say(" \n"), "without a word"},
		"a call":         {calls(call{"write", `{"path":"x"}`}), "called tools"},
		"text and calls": {pieces(sdk.Finish{Reason: "stop"}, sdk.Delta{Text: "first"}, wholeCall(0, "write", `{"path":"x"}`)), "called tools"},
		"half of one":    {sayThen("it began", "length"), "cut off"},
		"a filter":       {sayThen("it began", "filter"), "filter"},
		"tags: a call":   {say("<read path=\"a.go\"/>"), "called tools"},
		"tags: a verb":   {say("All is done. <set path=\"known://a\">1</set><update status=\"102\">on</update>"), "called tools"},
		"tags: native":   {calls(call{"write", `{"path":"x"}`}), "called tools"},
		"tags: half":     {sayThen("it began", "length"), "cut off"},
		"no model":       {failing(&sdk.ProviderError{Class: sdk.ClassNever, Message: "no credit"}), "no credit"},
	} {
		t.Run(name, func(t *testing.T) {
			h := prepareHouse(t, say("said"), c.answer, say("done"))
			if strings.HasPrefix(name, "tags: ") {
				h.tagging()
			}
			h.start()
			a := h.submit(Submission{Run: "r", Prompt: "say"})
			h.await(a)
			if l := h.compact(a.Run.ID); l.Status != sdk.StatusFailed || !strings.Contains(l.Reason, c.says) {
				t.Errorf("%d, %s", l.Status, l.Reason)
			}
			if archived, _ := h.archived(a.Run.ID); len(archived) > 0 || len(h.entries(a.Run.ID, "summary://")) > 0 || len(h.tools.calledTools()) > 0 {
				t.Errorf("archived %v, called %v", archived, h.tools.calledTools())
			}
			h.run(Submission{Run: "r", Prompt: "go on"})
			if got := shown(h.models.asked()[2]); !strings.HasPrefix(got, "user:say|assistant:said|") || !strings.HasSuffix(got, "|user:go on") {
				t.Errorf("the next prompt is shown %s", got)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestCompactWaitsItsTurn: it is queued behind what the run works on, can be aborted, and stands for no prompt behind it.
func TestCompactWaitsItsTurn(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := newHouse(t, say("said"), hanging(begun), say("in short"), say("done"))
	a := h.submit(Submission{Run: "r", Prompt: "say"})
	h.await(a)
	first, err := h.engine.Compact(t.Context(), a.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	second, err := h.engine.Compact(t.Context(), a.Run.ID)
	if err != nil || second.Ahead != 1 {
		t.Fatalf("%+v, %v", second, err)
	}
	behind := h.submit(Submission{Run: "r", Prompt: "behind"})
	if err := h.engine.Abort(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	if l := h.await(first); l.Status != sdk.StatusAborted {
		t.Errorf("%+v", l)
	}
	if l := h.await(second); l.Status != sdk.StatusOK {
		t.Errorf("%+v", l)
	}
	h.await(behind)
	if got := shown(h.models.asked()[3]); got != "user:[What was said before this is left out. |user:behind" {
		t.Errorf("the prompt behind is shown %s", got)
	}
	if _, err := h.engine.Resume(t.Context(), a.Run.ID); sdk.OutcomeOf(err) != sdk.Conflict || !strings.Contains(err.Error(), "finished") {
		t.Errorf("the run can be resumed: %v", err)
	}
	h.check(a.Run.ID)
}

// TestWhatEndsWhileASummaryIsWritten is no part of it: the model reads it behind the summary, also where another daemon ended
// the loop.
func TestWhatEndsWhileASummaryIsWritten(t *testing.T) {
	for name, cut := range map[string]bool{"by one daemon": false, "by two": true} {
		t.Run(name, func(t *testing.T) {
			h := prepareHouse(t, say("said"))
			begun, goesOn, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
			h.tools.on("bash", func(_ context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
				if strings.Contains(string(c.Arguments), "slow") {
					close(begun)
					<-goesOn
				}
				return sdk.ToolResult{Success: true, Output: "printed"}, nil
			})
			run := func(command string) {
				h.call(ToolCall{Tool: "bash", Run: "r", Arguments: json.RawMessage(`{"command":"` + command + `"}`), Join: true})
			}
			h.models.steps = append(h.models.steps, func(_ context.Context, _ sdk.Request, send func(sdk.Delta) error, _ func(sdk.Retry) error) error {
				close(goesOn)
				<-over
				if err := send(sdk.Delta{Text: "in short"}); err != nil {
					return err
				}
				return endWith(send, "stop")
			}, say("done"))
			h.start()
			a := h.submit(Submission{Run: "r", Prompt: "say"})
			h.await(a)
			run("quick")
			go func() {
				defer close(over)
				run("slow")
			}()
			<-begun
			h.store.setRefuse(func(_ int, c sdk.Change) error {
				if cut && c.EndLoop != nil {
					return errors.New("the disk is full")
				}
				return nil
			})
			c, err := h.engine.Compact(t.Context(), a.Run.ID)
			if err != nil {
				t.Fatal(err)
			}
			if cut {
				h.until("its answer is recorded", func() bool {
					e, err := h.store.Entry(t.Context(), a.Run.ID, sdk.ReplyPath(4))
					return err == nil && e.State == sdk.StateResolved
				})
				h.cut()
				h.store.setRefuse(nil)
				h.start()
			}
			if l := h.await(c); l.Status != sdk.StatusOK {
				t.Fatalf("%+v", l)
			}
			h.run(Submission{Run: "r", Prompt: "go on"})
			got := fmt.Sprint(h.models.asked()[2].Messages)
			if !strings.Contains(got, "in short") || !strings.Contains(got, "slow") || !strings.Contains(got, "printed") || strings.Contains(got, "quick") {
				t.Errorf("the next prompt is shown %s", got)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestCompactOfAgents: whatever an agent has to hand over, a summary is plain text of its whole conversation.
func TestCompactOfAgents(t *testing.T) {
	for name, agent := range map[string]sdk.Agent{
		"with a finish":   {Finish: &sdk.FinishSpec{Schema: json.RawMessage(`{"type":"object"}`)}},
		"of few messages": {Messages: 1},
		"offline":         {Network: new(false)},
	} {
		t.Run(name, func(t *testing.T) {
			var answers []step
			for range 3 {
				answers = append(answers, sayThen("said", "length"))
			}
			h := prepareHouse(t, append(answers, say("in short"))...)
			h.agents["other"] = agent
			h.start()
			var a Accepted
			for i := range 3 {
				a = h.submit(Submission{Run: "r", Prompt: fmt.Sprint("prompt ", i), Agent: "other"})
				h.await(a)
			}
			if l := h.compact(a.Run.ID); l.Status != sdk.StatusOK {
				t.Errorf("%+v", l)
			}
			if got := shown(h.models.asked()[3]); !strings.Contains(got, "prompt 0") || !strings.Contains(got, "prompt 1") {
				t.Errorf("it is shown %s", got)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestCompactRefused: where nothing was said, and where the agent takes one prompt at a time.
func TestCompactRefused(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := newHouse(t, hanging(begun))
	empty, err := h.engine.StartRun(t.Context(), Submission{Project: h.project, Run: "empty"})
	if err != nil {
		t.Fatal(err)
	}
	busy := h.submit(Submission{Run: "busy", Agent: "polite"})
	<-begun
	for run, says := range map[int64]string{empty.Run.ID: "nothing was said", busy.Run.ID: "one prompt at a time"} {
		if _, err := h.engine.Compact(t.Context(), run); sdk.OutcomeOf(err) != sdk.Conflict || !strings.Contains(err.Error(), says) {
			t.Errorf("%v; want %s", err, says)
		}
	}
	if _, err := h.engine.Compact(t.Context(), 999); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("a run that there is not: %v", err)
	}
	if err := h.engine.Abort(context.Background(), busy.Run.ID); err != nil {
		t.Fatal(err)
	}
	h.await(busy)
}

// TestACompactionIsNoWord of the person's.
func TestACompactionIsNoWord(t *testing.T) {
	h := newHouse(t, say("said"), say("in short"))
	a := h.submit(Submission{Run: "r", Prompt: "say"})
	h.await(a)
	h.compact(a.Run.ID)
	if said := h.engine.allSaid(a.Run.ID); strings.Contains(said, "compact") || strings.Contains(said, "Summarize") {
		t.Errorf("the person said %q", said)
	}
	prompts := h.entries(a.Run.ID, "prompt://")
	if i := slices.IndexFunc(prompts, func(e sdk.Entry) bool { return e.Body == "/compact" }); i < 0 || !strings.Contains(string(prompts[i].Attributes), "Summarize this conversation") {
		t.Errorf("%+v", prompts)
	}
}
