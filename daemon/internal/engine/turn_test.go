package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/stream"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func TestPlainAnswer(t *testing.T) {
	h := newHouse(t, say("hello"))
	a := h.submit(Submission{Prompt: "say hello"})
	l := h.await(a)
	if l.Status != 200 || l.Stop != "answer" {
		t.Fatalf("%d %q %q", l.Status, l.Stop, l.Reason)
	}
	if a.Model != "fake/m" || a.Why == "" || a.Run.Alias != "default-1" {
		t.Errorf("accepted %+v", a)
	}
	r, err := h.store.Run(t.Context(), a.Run.ID)
	if err != nil || r.Status != 200 || r.Turns != 1 {
		t.Errorf("run %+v, %v", r, err)
	}
	answer := h.entries(a.Run.ID, "assistant://1")
	if len(answer) != 1 || answer[0].Body != "hello" {
		t.Fatalf("%+v", answer)
	}
	turns, err := h.store.Turns(t.Context(), a.Run.ID)
	if err != nil || len(turns) != 1 || turns[0].Usage == nil || turns[0].Usage.Total != 15 || turns[0].Finish != "stop" {
		t.Errorf("turns %+v, %v", turns, err)
	}
	req := h.models.asked()[0]
	if len(req.Messages) != 2 || req.Messages[0].Role != sdk.RoleSystem || req.Messages[1].Text != "say hello" || req.Model != "m" || req.Run != a.Run.Key {
		t.Errorf("request %+v", req)
	}
	if sys := h.entries(a.Run.ID, "system://"); len(sys) != 1 || sys[0].Body != req.Messages[0].Text {
		t.Error("the system prompt is not kept as it was sent")
	}
	h.check(a.Run.ID)
}

// spec: wrong_output_unseen
func TestCallAndResult(t *testing.T) {
	h := newHouse(t, calls(call{"read", `{"path":"a.go"}`}), say("it says hi"))
	h.tools.on("read", func(_ context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		if c.Project == "" || c.RunDir == "" || c.Run == "" || c.CallID == "" || c.Deadline.IsZero() || string(c.Arguments) != `{"path":"a.go"}` {
			t.Errorf("invocation %+v", c)
		}
		return sdk.ToolResult{Success: true, Output: "hi", Metadata: map[string]any{"lines": 1}}, nil
	})
	a := h.submit(Submission{})
	if l := h.await(a); l.Status != 200 {
		t.Fatalf("%+v", l)
	}
	acts := h.actions(a.Run.ID)
	if len(acts) != 1 || acts[0].Path != "log://turn_1/read/a.go" || acts[0].Body != "hi" || acts[0].State != sdk.StateResolved {
		t.Fatalf("%+v", acts)
	}
	at := attributes(t, acts[0])
	if at.CallID != "id0" || at.Tool != "read" || string(at.Arguments) != `{"path":"a.go"}` || at.Decision == nil || at.Decision.Rule != "read" || at.Metadata["lines"] != 1.0 || at.Duration == nil {
		t.Errorf("attributes %s", acts[0].Attributes)
	}
	second := h.models.asked()[1].Messages
	if len(second) != 4 || second[2].Calls[0].ID != "id0" || second[3].Role != sdk.RoleTool || second[3].Text != "hi" || second[3].CallID != "id0" {
		t.Errorf("the model's next request: %+v", second)
	}
	h.check(a.Run.ID)
}

// TestCommitsOfATurn: a call costs two commits, the turn around it one more.
func TestCommitsOfATurn(t *testing.T) {
	h := newHouse(t, calls(call{"read", `{"path":"a"}`}), say("done"))
	a := h.submit(Submission{})
	h.await(a)
	h.check(a.Run.ID)
	var got []string
	for _, c := range h.store.commits() {
		var parts []string
		if c.CloseTurn != nil {
			parts = append(parts, fmt.Sprintf("close%d", c.CloseTurn.Sequence))
		}
		if c.OpenTurn != nil {
			parts = append(parts, fmt.Sprintf("open%d", c.OpenTurn.Sequence))
		}
		for _, w := range c.Writes {
			scheme, _, _ := strings.Cut(w.Path, ":")
			parts = append(parts, strings.TrimSuffix(scheme+"/"+string(w.Phase), "/"))
		}
		if c.EndLoop != nil {
			parts = append(parts, "end")
		}
		got = append(got, strings.Join(parts, "+"))
	}
	want := []string{"open1", "assistant+system+tools+log/started", "log/ended", "close1+open2", "assistant", "close2+end"}
	if !slices.Equal(got, want) {
		t.Fatalf("commits\n got %q\nwant %q", got, want)
	}
}

// spec: dispatch_path
func TestRecordedBeforeDispatch(t *testing.T) {
	h := newHouse(t, calls(numbered("write", 1), numbered("write", 2), numbered("write", 3)))
	var run int64
	h.tools.on("write", func(_ context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		var phases []string
		for _, e := range h.actions(run) {
			phases = append(phases, string(e.Phase))
		}
		want := map[string]string{
			`{"path":"f1"}`: "started recorded recorded", `{"path":"f2"}`: "ended started recorded", `{"path":"f3"}`: "ended ended started",
		}[string(c.Arguments)]
		if got := strings.Join(phases, " "); got != want {
			t.Errorf("while %s runs: %s, want %s", c.Arguments, got, want)
		}
		return ok("written")
	})
	a, err := h.engine.StartRun(t.Context(), Submission{Project: h.project, Run: "r"})
	if err != nil {
		t.Fatal(err)
	}
	run = a.Run.ID
	h.run(Submission{Run: "r"})
	h.check(run)
	if n := len(h.store.commits()); n != 8 { // open, record, 3 ends, close+open, record, close+end
		t.Errorf("%d commits", n)
	}
}

func TestReadsRunTogetherAndWritesAlone(t *testing.T) {
	h := newHouse(t, calls(numbered("read", 1), numbered("read", 2), numbered("write", 3), numbered("read", 4)))
	both := make(chan struct{})
	var mu sync.Mutex
	inside, together := 0, 0
	enter := func() { mu.Lock(); inside++; together = max(together, inside); mu.Unlock() }
	leave := func() { mu.Lock(); inside--; mu.Unlock() }
	var arrive sync.WaitGroup
	arrive.Add(2)
	go func() { arrive.Wait(); close(both) }()
	h.tools.on("read", func(_ context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		enter()
		defer leave()
		if strings.Contains(string(c.Arguments), "f1") || strings.Contains(string(c.Arguments), "f2") {
			arrive.Done()
			<-both // only passes when both run at the same time
		}
		return ok("read " + string(c.Arguments))
	})
	h.tools.on("write", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		enter()
		defer leave()
		mu.Lock()
		defer mu.Unlock()
		if inside != 1 {
			t.Errorf("a write ran beside %d others", inside-1)
		}
		return ok("written")
	})
	a := h.submit(Submission{})
	h.await(a)
	if together != 2 {
		t.Errorf("%d ran together", together)
	}
	for i, e := range h.actions(a.Run.ID) {
		if at := attributes(t, e); at.Index != i {
			t.Errorf("action %d stands at place %d", at.Index, i)
		}
	}
	h.check(a.Run.ID)
}

func TestOutcomesOfATurn(t *testing.T) {
	for _, c := range []struct {
		name  string
		calls []call
		want  string
		ran   string
	}{
		{"a failed side effect gives up the rest", []call{numbered("read", 1), numbered("write_bad", 2), numbered("write", 3), numbered("read", 4)},
			"read:resolved write_bad:failed:timeout write:failed:aborted read:failed:aborted", "read write_bad"},
		{"a failed read does not", []call{numbered("read_bad", 1), numbered("write", 2)},
			"read_bad:failed:timeout write:resolved", "read_bad write"},
		{"B8 invalid JSON of a read", []call{{"read", `{"path":`}, numbered("read", 2)},
			"read:failed:validation read:resolved", "read"},
		{"invalid JSON of a side effect gives up the rest", []call{{"write", `[1]`}, numbered("write", 2)},
			"write:failed:validation write:failed:aborted", ""},
		{"B9 unknown tool", []call{{"frobnicate", `{}`}, numbered("write", 2)},
			"frobnicate:failed:not_found write:resolved", "write"},
		{"a tool of a broken plugin", []call{{"broken", `{}`}, numbered("write", 2)},
			"broken:failed:unavailable write:resolved", "write"},
		{"a denied side effect gives up the rest", []call{numbered("read", 1), {"write", `{"path":"../x"}`}, numbered("write", 3)},
			"read:resolved write:failed:permission write:failed:aborted", "read"},
		{"a denied read does not", []call{{"read", `{"path":"/etc/passwd"}`}, numbered("write", 3)},
			"read:failed:permission write:resolved", "write"},
		{"a tool that nothing vouches for", []call{{"loose", `{}`}}, "loose:failed:permission", ""},
		{"a qualified name", []call{{"fake__read", `{"path":"a"}`}}, "fake__read:resolved", "read"},
		{"T6 nothing runs after an accepted end", []call{numbered("read", 1), {"finish", `{}`}, numbered("write", 3)},
			"read:resolved finish:resolved write:failed:aborted", "read finish"},
		{"an end after a failure is not accepted", []call{numbered("read_bad", 1), {"finish", `{}`}},
			"read_bad:failed:timeout finish:failed:conflict", "read_bad"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t, calls(c.calls...), say("done"))
			a := h.submit(Submission{Agent: "free"})
			l := h.await(a)
			if l.Status != 200 {
				t.Errorf("loop ended %d: %s", l.Status, l.Reason)
			}
			if got := h.outcomes(a.Run.ID); got != c.want {
				t.Errorf("outcomes\n got %s\nwant %s", got, c.want)
			}
			if got := strings.Join(h.tools.calledTools(), " "); got != c.ran {
				t.Errorf("ran %q, want %q", got, c.ran)
			}
			for _, e := range h.actions(a.Run.ID) {
				if e.State != sdk.StateResolved && (e.Body == "" || attributes(t, e).Error == "") {
					t.Errorf("%s failed without a reason: %s", e.Path, e.Attributes)
				}
			}
			h.check(a.Run.ID)
		})
	}
}

// spec: failure_reporting
func TestErrorsAreToldToTheModel(t *testing.T) { // B8, B9, B10
	h := newHouse(t, calls(call{"frobnicate", `{}`}, call{"read", `{"path":`}, call{"read", `{"path":"../x"}`}, call{"broken", `{}`}))
	h.run(Submission{Agent: "free"})
	m := h.models.asked()[1].Messages
	if len(m) != 7 {
		t.Fatalf("%d messages", len(m))
	}
	for i, want := range []string{"there are: read, read_bad, write", "not whole", "name a path below the project", `the tool "broken" cannot be called: the plugin evil is broken: it crashed 5 times`} {
		r := m[3+i]
		if r.Role != sdk.RoleTool || !r.Failed || r.CallID != fmt.Sprintf("id%d", i) || !strings.Contains(r.Text, want) {
			t.Errorf("result %d: %+v, want %q", i, r, want)
		}
	}
}

func TestToolThatCannotBeCalled(t *testing.T) {
	for name, c := range map[string]struct {
		do   fakeTool
		want sdk.Outcome
	}{
		"crash": {func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
			return sdk.ToolResult{}, sdk.Errorf(sdk.PluginCrashed, "the plugin died")
		}, sdk.PluginCrashed},
		"plain error": {func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
			return sdk.ToolResult{}, errors.New("no")
		}, sdk.Internal},
		"panic": {func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) { panic("no") }, sdk.Internal},
		"failure without a word": {func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
			return sdk.ToolResult{}, nil
		}, sdk.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, calls(numbered("write", 1)), say("sorry"))
			h.tools.on("write", c.do)
			a := h.submit(Submission{})
			if l := h.await(a); l.Status != 200 {
				t.Errorf("the loop ended %d: %s", l.Status, l.Reason)
			}
			if acts := h.actions(a.Run.ID); acts[0].Outcome != c.want {
				t.Errorf("outcome %s: %s", acts[0].Outcome, acts[0].Body)
			}
			h.check(a.Run.ID)
		})
	}
}

// spec: mode_enforcement
func TestAskModeOnlyReads(t *testing.T) {
	h := newHouse(t, calls(numbered("read", 1), numbered("write", 2)))
	a := h.submit(Submission{ReadOnly: true})
	h.await(a)
	if got, want := h.outcomes(a.Run.ID), "read:resolved write:failed:permission"; got != want {
		t.Errorf("got %s", got)
	}
	for _, tool := range h.models.asked()[0].Tools {
		if strings.HasPrefix(tool.Name, "write") || tool.Name == "bash" || tool.Name == "loose" {
			t.Errorf("a loop that may only read was offered %s", tool.Name)
		}
	}
}

func TestAgentsToolsAreAllThereIs(t *testing.T) {
	h := newHouse(t, calls(numbered("write", 1)))
	a := h.submit(Submission{Agent: "reader"})
	h.await(a)
	if got := h.outcomes(a.Run.ID); got != "write:failed:permission" {
		t.Errorf("got %s", got)
	}
	if n := len(h.models.asked()[0].Tools); n != 2 {
		t.Errorf("%d tools offered", n)
	}
}

// TestToolsAreTakenPerTurn: what appears or goes while a loop runs is offered,
// or not offered, from the next turn on.
func TestToolsAreTakenPerTurn(t *testing.T) {
	h := newHouse(t, calls(numbered("read", 1)), calls(numbered("late", 1)), calls(numbered("late", 2)))
	h.tools.on("read", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		h.tools.add("late", sdk.Annotations{ReadOnly: true}, true, sdk.GrantProject)
		return sdk.ToolResult{Success: true}, nil
	})
	h.tools.on("late", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		h.tools.remove("late")
		return sdk.ToolResult{Success: true}, nil
	})
	a := h.submit(Submission{})
	h.await(a)
	if got, want := h.outcomes(a.Run.ID), "read:resolved late:resolved late:failed:not_found"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for i, want := range []bool{false, true, false, false} {
		tools := h.models.asked()[i].Tools
		if got := slices.ContainsFunc(tools, func(d sdk.ToolDef) bool { return d.Name == "late" }); got != want {
			t.Errorf("turn %d: late is offered: %v, want %v", i+1, got, want)
		}
	}
	h.check(a.Run.ID)
}

func TestManyCallsAreCapped(t *testing.T) {
	var many []call
	for i := range 150 {
		many = append(many, numbered("read", i))
	}
	h := newHouse(t, calls(many...))
	a := h.submit(Submission{})
	h.await(a)
	if n := len(h.actions(a.Run.ID)); n != 99 {
		t.Errorf("%d actions", n)
	}
	m := h.models.asked()[1].Messages
	if last := m[len(m)-1]; !strings.Contains(last.Text, "51 calls were left out") {
		t.Errorf("the model was not told: %q", last.Text)
	}
	h.check(a.Run.ID)
}

func TestTwoPromptsOfOneRun(t *testing.T) {
	h := newHouse(t, say("one"), say("two"))
	h.run(Submission{Run: "r", Prompt: "first"})
	h.run(Submission{Run: "r", Prompt: "second"})
	var texts []string
	for _, m := range h.models.asked()[1].Messages[1:] {
		texts = append(texts, m.Text)
	}
	if !slices.Equal(texts, []string{"first", "one", "second"}) {
		t.Fatalf("%q", texts)
	}
}

func TestEndsWithoutAnAnswer(t *testing.T) {
	with := func(finish string) step {
		return func(_ context.Context, _ sdk.Request, send func(sdk.Delta) error, _ func(sdk.Retry) error) error {
			if err := send(sdk.Delta{Text: "so"}); err != nil {
				return err
			}
			return send(sdk.Delta{Finish: &sdk.Finish{Reason: finish}})
		}
	}
	for name, c := range map[string]struct {
		step   step
		status int
		stop   string
	}{
		"nothing":        {say(""), 204, "answer"},
		"length":         {with("length"), 500, "failed"},
		"filter":         {with("filter"), 500, "failed"},
		"calls, no call": {with("calls"), 500, "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, c.step)
			a := h.submit(Submission{})
			if l := h.await(a); l.Status != c.status || l.Stop != c.stop {
				t.Errorf("%d %q: %s", l.Status, l.Stop, l.Reason)
			}
			h.check(a.Run.ID)
		})
	}
}

func TestCallsWithFinishStopAreMade(t *testing.T) {
	odd := func(_ context.Context, _ sdk.Request, send func(sdk.Delta) error, _ func(sdk.Retry) error) error {
		if err := send(sdk.Delta{Call: &sdk.CallDelta{ID: "x", Tool: "read", Arguments: ""}}); err != nil {
			return err
		}
		return endWith(send, "stop")
	}
	h := newHouse(t, odd)
	a := h.submit(Submission{})
	h.await(a)
	if got := h.outcomes(a.Run.ID); got != "read:resolved" {
		t.Errorf("got %s", got)
	}
}

func TestInstructionsAndReasoning(t *testing.T) {
	h := prepareHouse(t, func(_ context.Context, _ sdk.Request, send func(sdk.Delta) error, _ func(sdk.Retry) error) error {
		for _, d := range []sdk.Delta{{Reasoning: "hm"}, {Text: "yes"}, {Finish: &sdk.Finish{Reason: "stop", Extra: json.RawMessage(`{"sig":"x"}`)}}} {
			if err := send(d); err != nil {
				return err
			}
		}
		return nil
	})
	h.config.Instructions = fakeInstructions{in: sdk.Instructions{File: "AGENTS.md", Text: "Use tabs."}}
	var previews []rpc.Preview
	h.config.Preview = func(p rpc.Preview) { previews = append(previews, p) }
	var over []bool // whether the answer was committed when the previews ended
	h.config.Previewed = func(run int64) {
		entry, err := h.store.Entry(context.Background(), run, sdk.ReplyPath(1))
		over = append(over, err == nil && entry.State.Ended())
	}
	h.start()
	a := h.submit(Submission{Run: "r"})
	h.await(a)
	if len(over) == 0 || over[0] {
		t.Errorf("the previews ended before the answer was committed: %v", over)
	}
	h.run(Submission{Run: "r"})
	if !strings.Contains(h.models.asked()[0].Messages[0].Text, "Use tabs.") {
		t.Error("the project's instructions are missing")
	}
	if m := h.models.asked()[1].Messages[2]; m.Reasoning != "hm" || string(m.Extra) != `{"sig":"x"}` {
		t.Errorf("%+v", m)
	}
	system, said, kept := sdk.LastSystemText(h.entries(a.Run.ID, "system://"))
	if !kept || len(said.Instructions) != 1 || said.Instructions[0] != (sdk.SystemInstructions{File: "AGENTS.md"}) {
		t.Errorf("the system text says %s of its instructions", system.Attributes)
	}
	reply, err := h.store.Entry(t.Context(), a.Run.ID, sdk.ReplyPath(1))
	if at, bad := sdk.ReplyOf(reply.Attributes); err != nil || bad != nil || at.Usage != nil || at.Estimate == 0 {
		t.Errorf("the answer says %s (%v)", reply.Attributes, err)
	}
	if len(previews) < 2 || previews[0].Reasoning != "hm" || previews[1].Text != "yes" || previews[0].Turn != 1 || previews[0].Loop != a.Loop.ID {
		t.Errorf("previews %+v", previews)
	}
}

// lagging holds the last byte of a text back, as what takes secrets out may.
type lagging struct{ held string }

func (l *lagging) Write(piece string) string {
	text := l.held + piece
	l.held = text[max(len(text)-1, 0):]
	return text[:len(text)-len(l.held)]
}

func (l *lagging) End() string {
	text := l.held
	l.held = ""
	return text
}

// TestThoughtsAreShownBeforeTheText: what is held back of a thought comes before the text that
// follows it, so that who shows both has them in their order.
func TestThoughtsAreShownBeforeTheText(t *testing.T) {
	h := prepareHouse(t, func(_ context.Context, _ sdk.Request, send func(sdk.Delta) error, _ func(sdk.Retry) error) error {
		for _, d := range []sdk.Delta{{Reasoning: "h"}, {Reasoning: "m"}, {Text: "ye"}, {Text: "s"}, {Finish: &sdk.Finish{Reason: "stop"}}} {
			if err := send(d); err != nil {
				return err
			}
		}
		return nil
	})
	h.config.Redacting = func() stream.Pieces { return &lagging{} }
	var shown strings.Builder
	h.config.Preview = func(p rpc.Preview) { shown.WriteString(p.Reasoning + strings.ToUpper(p.Text)) }
	h.start()
	h.run(Submission{})
	if got := shown.String(); got != "hmYES" {
		t.Errorf("%q was shown", got)
	}
}
