package engine

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bothyd/bothy/sdk"
)

func TestAbortDuringACompletion(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := newHouse(t, hanging(begun))
	a := h.submit(Submission{})
	<-begun
	if err := h.engine.Abort(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	if l := h.await(a); l.Status != 499 || l.Stop != "aborted" {
		t.Errorf("ended %d %q", l.Status, l.Stop)
	}
	if answers := h.entries(a.Run.ID, "assistant://"); len(answers) != 1 || answers[0].State != sdk.StateFailed || answers[0].Body != "half an ans" {
		t.Errorf("the part that came is not kept: %+v", answers)
	}
	if errs := h.entries(a.Run.ID, "log://turn_1/error/"); len(errs) != 1 || errs[0].Body != "the model's answer was cut off: aborted by a person" {
		t.Errorf("the failure says %+v", errs)
	}
	h.check(a.Run.ID)
}

// waiting is a tool that runs until its context ends.
func waiting(begun chan<- struct{}) fakeTool {
	return func(ctx context.Context, _ sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error) {
		if err := out.Chunk(1, []byte("so far")); err != nil {
			return sdk.ToolResult{}, err
		}
		begun <- struct{}{}
		<-ctx.Done()
		return sdk.ToolResult{}, sdk.Errorf(sdk.Aborted, "the call was aborted: %w", ctx.Err())
	}
}

func TestAbortDuringACall(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := newHouse(t, calls(numbered("write", 1), numbered("bash", 2), numbered("write", 3)))
	h.tools.on("bash", waiting(begun))
	a := h.submit(Submission{})
	<-begun
	if err := h.engine.Abort(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	if l := h.await(a); l.Status != 499 || l.Stop != "aborted" {
		t.Errorf("ended %d %q", l.Status, l.Stop)
	}
	if got, want := h.outcomes(a.Run.ID), "write:resolved bash:cancelled:aborted write:failed:aborted"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if body := h.actions(a.Run.ID)[1].Body; body != "so far\n\naborted by a person" {
		t.Errorf("the action says %q", body)
	}
	h.check(a.Run.ID)
	if l := h.run(Submission{Run: a.Run.Alias}); l.Status != 200 {
		t.Errorf("the run does not go on: %d %s", l.Status, l.Reason)
	}
	checkRequest(t, h.models.asked()[len(h.models.asked())-1])
}

// TestAbortUnblocksWithinASecond: whatever the work does, abort is over soon.
func TestAbortUnblocksWithinASecond(t *testing.T) {
	stubborn := make(chan struct{})
	for name, prepare := range map[string]func(h *house, begun chan struct{}){
		"a tool that does not listen": func(h *house, begun chan struct{}) {
			h.models.steps = []step{calls(numbered("write", 1), numbered("write", 2))}
			h.tools.on("write", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
				begun <- struct{}{}
				<-stubborn
				return ok("late")
			})
		},
		"a provider that does not listen": func(h *house, begun chan struct{}) {
			h.models.steps = []step{func(context.Context, sdk.Request, func(sdk.Delta) error, func(sdk.Retry) error) error {
				begun <- struct{}{}
				<-stubborn
				return nil
			}}
		},
		"reads that do not listen": func(h *house, begun chan struct{}) {
			h.models.steps = []step{calls(numbered("read", 1), numbered("read", 2))}
			h.tools.on("read", func(_ context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
				if strings.Contains(string(c.Arguments), "f1") {
					begun <- struct{}{}
				}
				<-stubborn
				return ok("late")
			})
		},
		"a hook that waits": func(h *house, begun chan struct{}) {
			h.hooks.TurnStarted.On(10, "slow", func(ctx context.Context, _ sdk.TurnEvent) error {
				begun <- struct{}{}
				<-ctx.Done()
				return ctx.Err()
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stubborn = make(chan struct{})
				h := prepareHouse(t)
				begun := make(chan struct{}, 1)
				prepare(h, begun)
				h.start()
				a := h.submit(Submission{})
				<-begun
				start := time.Now()
				if err := h.engine.Abort(t.Context(), a.Run.ID); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took > time.Second {
					t.Errorf("it took %v", took)
				}
				if l := h.await(a); l.Stop != "aborted" {
					t.Errorf("ended %d %q: %s", l.Status, l.Stop, l.Reason)
				}
				h.check(a.Run.ID)
				close(stubborn)
			})
		})
	}
}

func TestAbortOfARestingRun(t *testing.T) {
	h := newHouse(t)
	a := h.submit(Submission{})
	h.await(a)
	h.untilIdle()
	if err := h.engine.Abort(t.Context(), a.Run.ID); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("%v", err)
	}
}

// spec: loops_table wrong_second_prompt
func TestQueueIsFirstInFirstOut(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := newHouse(t, hanging(begun), say("two"), say("three"))
	one := h.submit(Submission{Run: "r", Prompt: "one"})
	<-begun
	two := h.submit(Submission{Run: "r", Prompt: "two"})
	three := h.submit(Submission{Run: "r", Prompt: "three"})
	if one.Run.ID != two.Run.ID || two.Loop.Sequence != 2 || three.Loop.Sequence != 3 {
		t.Fatalf("%+v %+v", two, three)
	}
	if err := h.engine.Abort(t.Context(), one.Run.ID); err != nil { // those that wait survive
		t.Fatal(err)
	}
	if l := h.await(two); l.Status != 200 {
		t.Errorf("the second ended %d", l.Status)
	}
	if l := h.await(three); l.Status != 200 {
		t.Errorf("the third ended %d", l.Status)
	}
	var prompts []string
	for _, req := range h.models.asked() {
		prompts = append(prompts, req.Messages[len(req.Messages)-1].Text)
	}
	if got := strings.Join(prompts, " "); got != "one two three" {
		t.Errorf("order %q", got)
	}
	h.check(one.Run.ID)
}

func TestBusyRunRefuses(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := newHouse(t, hanging(begun))
	a := h.submit(Submission{Run: "r", Agent: "polite"})
	<-begun
	_, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Run: "r", Prompt: "and?"})
	if sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("%v", err)
	}
	if err := h.engine.Abort(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	h.untilIdle()
	if l := h.run(Submission{Run: "r"}); l.Status != 200 {
		t.Errorf("ended %d", l.Status)
	}
}

func TestRunsWorkAtTheSameTime(t *testing.T) {
	var arrive sync.WaitGroup
	arrive.Add(3)
	together := func(_ context.Context, r sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
		arrive.Done()
		arrive.Wait() // passes only when three runs are here
		return say("yes")(context.Background(), r, send, retry)
	}
	h := newHouse(t, together, together, together)
	var all []Accepted
	for range 3 {
		all = append(all, h.submit(Submission{}))
	}
	seen := map[string]bool{}
	for _, a := range all {
		if l := h.await(a); l.Status != 200 || seen[a.Run.Alias] {
			t.Errorf("%s ended %d", a.Run.Alias, l.Status)
		}
		seen[a.Run.Alias] = true
		h.check(a.Run.ID)
	}
}

func TestWrongSubmissions(t *testing.T) {
	h := newHouse(t)
	no := false
	for name, c := range map[string]struct {
		s    Submission
		want sdk.Outcome
	}{
		"empty":             {Submission{Project: h.project, Prompt: " \n"}, sdk.Validation},
		"not UTF-8":         {Submission{Project: h.project, Prompt: "\xff"}, sdk.Validation},
		"relative project":  {Submission{Project: "x", Prompt: "p"}, sdk.Validation},
		"no such project":   {Submission{Project: h.project + "/gone", Prompt: "p"}, sdk.NotFound},
		"project is a file": {Submission{Project: h.dir + "/bothy.db", Prompt: "p"}, sdk.Validation},
		"S3 run ../x":       {Submission{Project: h.project, Prompt: "p", Run: "../x"}, sdk.Validation},
		"S3 run a/b":        {Submission{Project: h.project, Prompt: "p", Run: "a/b"}, sdk.Validation},
		"S3 long run":       {Submission{Project: h.project, Prompt: "p", Run: strings.Repeat("x", 300)}, sdk.Validation},
		"the tools' run":    {Submission{Project: h.project, Prompt: "p", Run: "tools"}, sdk.Conflict},
		"no such agent":     {Submission{Project: h.project, Prompt: "p", Agent: "nobody"}, sdk.NotFound},
		"no such dialect":   {Submission{Project: h.project, Prompt: "p", Agent: "odd"}, sdk.Validation},
		"no such model":     {Submission{Project: h.project, Prompt: "p", Model: "missing"}, sdk.NotFound},
		"no such mode":      {Submission{Project: h.project, Prompt: "p", Mode: "maybe"}, sdk.Validation},
	} {
		if _, err := h.engine.Submit(t.Context(), c.s); sdk.OutcomeOf(err) != c.want || err == nil {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	h.models.tools = &no
	_, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Prompt: "p"})
	if sdk.OutcomeOf(err) != sdk.Validation || !strings.Contains(err.Error(), "cannot call tools") {
		t.Errorf("a model without tools: %v", err)
	}
	if l := h.run(Submission{Agent: "bare"}); l.Status != 200 {
		t.Errorf("an agent without tools needs no such model: %s", l.Reason)
	}
}

func TestStartRun(t *testing.T) {
	h := newHouse(t)
	a, err := h.engine.StartRun(t.Context(), Submission{Project: h.project, Run: "r", Model: "other"})
	if err != nil || a.Run.Alias != "r" || a.Model != "other" {
		t.Fatalf("%+v, %v", a, err)
	}
	if _, err := h.engine.StartRun(t.Context(), Submission{Project: h.project, Run: "r"}); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("%v", err)
	}
	if b := h.submit(Submission{Run: "r"}); b.Run.ID != a.Run.ID || b.Model != "other" {
		t.Errorf("the run did not keep its model: %+v", b)
	}
}
