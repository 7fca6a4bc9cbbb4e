package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func TestModelThatFails(t *testing.T) {
	cut := func(_ context.Context, _ sdk.Request, send func(sdk.Delta) error, _ func(sdk.Retry) error) error {
		if err := send(sdk.Delta{Text: "half an ans"}); err != nil {
			return err
		}
		return send(sdk.Delta{Call: &sdk.CallDelta{ID: "x", Tool: "write", Arguments: "{}"}})
	}
	for _, c := range []struct {
		name    string
		step    step
		status  int
		stop    string
		reason  string
		partial bool
	}{
		{"23 a stream without an end", cut, 500, "failed", "cut off", true},
		{"an error in the stream", func(ctx context.Context, r sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
			if err := cut(ctx, r, send, retry); err != nil {
				return err
			}
			return &sdk.ProviderError{Class: sdk.ClassServer, Message: "boom", Streamed: true}
		}, 500, "failed", "the model did not answer to the end: boom", true},
		{"401", failing(&sdk.ProviderError{Class: sdk.ClassNever, Status: 401, Message: "the key was refused"}), 500, "failed", "the key was refused", false},
		{"a plain error", failing(errors.New("no")), 500, "failed", "the model did not answer: no", false},
		{"no tools", failing(&sdk.ProviderError{Class: sdk.ClassNever, NoTools: true, Message: "x cannot call tools; y can"}), 500, "failed", "x cannot call tools; y can", false},
		{"replay", failing(&sdk.ProviderError{Class: sdk.ClassNever, Replay: true, Message: "first difference: a"}), 500, "replay", "first difference: a", false},
		{"a wrong configuration", failing(&sdk.Error{Outcome: sdk.Validation, Message: "config.hcl:3:1: no key", Cause: ErrConfig}), 500, "config", "cannot be asked: config.hcl:3:1: no key", false},
		{"too long, and nothing to leave out", failing(&sdk.ProviderError{Class: sdk.ClassOverflow, Message: "too long"}), 413, "overflow", "too long", false},
		{"panic", func(context.Context, sdk.Request, func(sdk.Delta) error, func(sdk.Retry) error) error { panic("no") }, 500, "failed", "internal error", false},
		{"an answer without end", func(_ context.Context, _ sdk.Request, send func(sdk.Delta) error, _ func(sdk.Retry) error) error {
			for {
				if err := send(sdk.Delta{Text: strings.Repeat("x", 1<<20)}); err != nil {
					return err
				}
			}
		}, 500, "failed", "too large", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t, c.step)
			a := h.submit(Submission{})
			l := h.await(a)
			if l.Status != c.status || l.Stop != c.stop || !strings.Contains(l.Reason, c.reason) {
				t.Errorf("ended %d %q: %s", l.Status, l.Stop, l.Reason)
			}
			if len(h.tools.calledTools()) != 0 {
				t.Error("a call of an answer that never came whole was made")
			}
			answers := h.entries(a.Run.ID, "assistant://")
			if got := len(answers) == 1 && answers[0].State == sdk.StateFailed && answers[0].Body != ""; got != c.partial {
				t.Errorf("partial answer kept: %v (%d entries)", got, len(answers))
			}
			if errs := h.entries(a.Run.ID, "log://turn_1/error/"); len(errs) != 1 || errs[0].State != sdk.StateFailed {
				t.Errorf("%d error entries", len(errs))
			}
			h.check(a.Run.ID)
			if l := h.run(Submission{Run: a.Run.Alias}); l.Status != 200 { // and the run goes on
				t.Errorf("the next prompt ended %d: %s", l.Status, l.Reason)
			}
		})
	}
}

func TestOverflowIsShortenedOnce(t *testing.T) {
	var steps []step
	for i := range 12 {
		steps = append(steps, calls(numbered("read", i)))
	}
	tooLong := failing(&sdk.ProviderError{Class: sdk.ClassOverflow, Message: "maximum context length"})
	h := newHouse(t, append(steps, tooLong, say("done"))...)
	h.tools.on("read", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		return ok(strings.Repeat("x", 4000))
	})
	a := h.submit(Submission{Prompt: "the task"})
	if l := h.await(a); l.Status != 200 {
		t.Fatalf("ended %d: %s", l.Status, l.Reason)
	}
	asked := h.models.asked()
	before, after := asked[len(asked)-2], asked[len(asked)-1]
	if len(after.Messages) >= len(before.Messages) || after.Messages[1].Text != "the task" {
		t.Errorf("%d messages, then %d", len(before.Messages), len(after.Messages))
	}
	h.check(a.Run.ID)
}

func TestOverflowThatNothingHelpsEndsTheLoop(t *testing.T) {
	tooLong := failing(&sdk.ProviderError{Class: sdk.ClassOverflow, Message: "maximum context length"})
	var steps []step
	for i := range 12 {
		steps = append(steps, calls(numbered("read", i)))
	}
	h := newHouse(t, append(steps, slices.Repeat([]step{tooLong}, 100)...)...)
	h.tools.on("read", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		return ok(strings.Repeat("x", 4000))
	})
	a := h.submit(Submission{})
	if l := h.await(a); l.Status != 413 || l.Stop != "overflow" {
		t.Fatalf("ended %d %q: %s", l.Status, l.Stop, l.Reason)
	}
	if r, err := h.store.Run(t.Context(), a.Run.ID); err != nil || r.Status != 200 {
		t.Errorf("run %d, %v", r.Status, err)
	}
	h.check(a.Run.ID)
}

// TestOverflowOfAnUnknownContext: a result of a megabyte does not end a loop
// whose model takes far less and does not say so before, and the next turn
// does not have to learn it anew.
func TestOverflowOfAnUnknownContext(t *testing.T) {
	const limit = 60_000
	answers, refused := 0, []int{0, 0}
	server := func(ctx context.Context, req sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
		size := 0
		for _, m := range req.Messages {
			size += len(m.Text)
		}
		if size > limit {
			refused[answers]++
			return &sdk.ProviderError{Class: sdk.ClassOverflow, Message: "too long"}
		}
		if answers++; answers == 1 {
			return calls(numbered("read", 2))(ctx, req, send, retry)
		}
		return say("fine")(ctx, req, send, retry)
	}
	h := newHouse(t, append([]step{calls(numbered("read", 1))}, slices.Repeat([]step{server}, 20)...)...)
	h.tools.on("read", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		return ok(strings.Repeat("x", 1<<20))
	})
	a := h.submit(Submission{})
	if l := h.await(a); l.Status != 200 || l.Stop != "answer" {
		t.Fatalf("ended %d %q: %s", l.Status, l.Stop, l.Reason)
	}
	if refused[0] == 0 || refused[1] > 1 {
		t.Errorf("the server refused %d requests of one turn, and %d of the next", refused[0], refused[1])
	}
	h.check(a.Run.ID)
}

func TestPromptLongerThanTheModel(t *testing.T) {
	h := prepareHouse(t)
	h.models.context = 4000
	h.start()
	a := h.submit(Submission{Prompt: strings.Repeat("long ", 10_000)})
	if l := h.await(a); l.Status != 413 || l.Stop != "overflow" {
		t.Fatalf("ended %d %q: %s", l.Status, l.Stop, l.Reason)
	}
	if len(h.models.asked()) != 0 {
		t.Error("a prompt that cannot fit was sent")
	}
	h.check(a.Run.ID)
}

func TestRetriesAreVisible(t *testing.T) {
	var h *house
	told := func() bool {
		rows, err := h.store.Journal(t.Context(), sdk.JournalQuery{})
		if err != nil {
			t.Error(err)
		}
		return slices.ContainsFunc(rows, func(row sdk.JournalRow) bool {
			return row.Kind == "note.retry" && strings.Contains(string(row.Data), `"wait_ms":1000`)
		})
	}
	h = prepareHouse(t, func(_ context.Context, _ sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
		if err := send(sdk.Delta{Text: "void"}); err != nil {
			return err
		}
		if err := retry(sdk.Retry{Class: sdk.ClassRateLimit, Wait: time.Second, Attempt: 2, Message: "slow down"}); err != nil {
			return err
		}
		if !told() { // before the wait, which may take minutes
			t.Error("the retry is not in the journal yet")
		}
		return say("fine")(context.Background(), sdk.Request{}, send, retry)
	})
	restarts := 0
	h.config.Preview = func(p rpc.Preview) {
		if p.Restart {
			restarts++
		}
	}
	h.start()
	a := h.submit(Submission{})
	h.await(a)
	if got := h.entries(a.Run.ID, "assistant://1")[0].Body; got != "fine" {
		t.Errorf("the answer is %q", got)
	}
	if restarts != 1 {
		t.Errorf("restarts shown: %d", restarts)
	}
}

// panicView stands for any part of the turn that breaks.
type panicView struct{ Assembler }

func (panicView) Assemble(context.Context, sdk.Assembly) (sdk.Prompt, error) { panic("broken view") }

func TestPanicEndsTheLoop(t *testing.T) {
	h := prepareHouse(t)
	h.config.Views[sdk.ViewTranscript] = panicView{h.config.Views[sdk.ViewTranscript]}
	h.start()
	a := h.submit(Submission{})
	if l := h.await(a); l.Status != 500 || !strings.Contains(l.Reason, "broken view") {
		t.Errorf("ended %d: %s", l.Status, l.Reason)
	}
	h.check(a.Run.ID)
}

// TestRefusedCommits refuses the k-th commit of a run with two calls, for each
// k, once and for good. Nothing may have an effect that was not recorded
// before it, and the loop must end well: when the disk is back, or at the next
// start.
func TestRefusedCommits(t *testing.T) {
	full := sdk.Errorf(sdk.Unavailable, "the disk is full")
	for k := 1; k <= 7; k++ {
		for _, forGood := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d %v", k, forGood), func(t *testing.T) {
				h := prepareHouse(t, calls(numbered("write", 1), numbered("write", 2)))
				h.start()
				var run int64
				h.tools.on("write", func(_ context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
					started := 0
					for _, e := range h.actions(run) {
						if e.Phase == sdk.PhaseStarted {
							started++
						}
					}
					if started != 1 {
						t.Errorf("%s runs and %d actions are recorded as started", c.Arguments, started)
					}
					return ok("written")
				})
				a, err := h.engine.StartRun(t.Context(), Submission{Project: h.project, Run: "r"})
				if err != nil {
					t.Fatal(err)
				}
				run = a.Run.ID
				refused := make(chan struct{}, 1000)
				n := 0
				h.store.setRefuse(func(_ int, c sdk.Change) error {
					if slices.ContainsFunc(c.Writes, func(w sdk.Write) bool { return w.Chunk != nil }) {
						return nil // a slow answer's piece, which is tried once and may be lost
					}
					if n++; n != k && (!forGood || n < k) {
						return nil
					}
					refused <- struct{}{}
					return full
				})
				b := h.submit(Submission{Run: "r"})
				if forGood {
					<-refused
					<-refused // it is held now
					if _, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Run: "r", Prompt: "p"}); sdk.OutcomeOf(err) != sdk.Unavailable || !strings.Contains(err.Error(), full.Error()) {
						t.Errorf("new work is answered with %v", err)
					}
					h.cut()
					h.store.setRefuse(nil)
					h.start()
				}
				if l := h.await(b); l.Status != 200 {
					t.Errorf("ended %d: %s", l.Status, l.Reason)
				}
				if n := len(h.tools.calledTools()); n > 2 || !forGood && n != 2 {
					t.Errorf("%d calls were made", n)
				}
				h.check(run)
			})
		}
	}
}

// TestTurnThatIsClosedAlready: a loop ends even when its last turn cannot be
// told, for a run with a loop that never ends takes no further prompt.
func TestTurnThatIsClosedAlready(t *testing.T) {
	h := newHouse(t, calls(numbered("write", 1)))
	a, err := h.engine.StartRun(t.Context(), Submission{Project: h.project, Run: "r"})
	if err != nil {
		t.Fatal(err)
	}
	h.tools.on("write", func(ctx context.Context, _ sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		if _, err := h.store.Store.Commit(ctx, sdk.Change{Run: a.Run.ID, CloseTurn: &sdk.Turn{Sequence: 1}, Writes: []sdk.Write{{
			Path: "log://turn_1/write/f1", Writer: sdk.WriterSystem, Phase: sdk.PhaseEnded, State: sdk.StateResolved,
		}}}); err != nil {
			t.Error(err)
		}
		return ok("written")
	})
	if l := h.run(Submission{Run: "r"}); l.Status != 500 {
		t.Errorf("ended %d: %s", l.Status, l.Reason)
	}
	h.check(a.Run.ID)
	if l := h.run(Submission{Run: "r"}); l.Status != 200 {
		t.Errorf("the next prompt ended %d: %s", l.Status, l.Reason)
	}
}

// untilIdle waits until no worker is left.
func (h *house) untilIdle() {
	h.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		h.engine.mu.Lock()
		var ended chan struct{}
		for _, w := range h.engine.workers {
			ended = w.ended
		}
		h.engine.mu.Unlock()
		if ended == nil {
			return
		}
		select {
		case <-ended:
		case <-time.After(time.Until(deadline)):
			h.t.Fatal("work goes on and on")
		}
	}
}

// TestAnyScript: whatever a model answers, each call has exactly one action
// and one result, in order, and the loop ends once.
func TestAnyScript(t *testing.T) {
	h := newHouse(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		tool := rapid.SampledFrom([]string{"read", "read_bad", "write", "write_bad", "bash", "finish", "loose", "nosuch", "", "fake__read", "../x", "error"})
		arguments := rapid.SampledFrom([]string{"", "{}", `{"path":"a"}`, `{"path":"../a"}`, `{"path":"~"}`, `{"a":1,"a":2}`, "[", "null", `{"command":"ls"}`})
		var steps []step
		for range rapid.IntRange(0, 5).Draw(rt, "turns") {
			var cs []call
			for range rapid.IntRange(1, 6).Draw(rt, "calls") {
				cs = append(cs, call{tool.Draw(rt, "tool"), arguments.Draw(rt, "arguments")})
			}
			steps = append(steps, calls(cs...))
		}
		if rapid.Bool().Draw(rt, "fails") {
			steps = append(steps, failing(&sdk.ProviderError{Class: sdk.ClassServer, Message: "boom"}))
		}
		h.models.mu.Lock()
		h.models.steps, h.models.requests = steps, nil
		h.models.mu.Unlock()
		n++
		name := fmt.Sprintf("r%d", n)
		a := h.submit(Submission{Run: name, Agent: rapid.SampledFrom([]string{"default", "free", "short"}).Draw(rt, "agent")})
		h.await(a)
		h.models.mu.Lock()
		h.models.steps = nil
		h.models.mu.Unlock()
		h.run(Submission{Run: name, Prompt: "again"})
		h.check(a.Run.ID)
		if t.Failed() {
			rt.FailNow()
		}
		for _, req := range h.models.asked() {
			checkRequest(rt, req)
		}
	})
}

// checkRequest fails unless every call of every answer is followed at once by
// its results, one each, in order.
func checkRequest(t interface{ Fatalf(string, ...any) }, req sdk.Request) {
	m := req.Messages
	for i := 0; i < len(m); {
		if m[i].Role == sdk.RoleTool {
			t.Fatalf("message %d is a result without a call", i)
		}
		made := m[i].Calls
		i++
		for _, c := range made {
			if i >= len(m) || m[i].Role != sdk.RoleTool || m[i].CallID != c.ID || m[i].Text == "" {
				t.Fatalf("the call %s is not answered at message %d", c.ID, i)
			}
			i++
		}
	}
}
