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

	"github.com/bothyd/bothy/sdk"
)

// call makes a call as a client does that may approve it.
func (h *house) call(c ToolCall) ToolDone {
	h.t.Helper()
	c.Approved = true
	return h.callUnapproved(c)
}

func (h *house) callUnapproved(c ToolCall) ToolDone {
	h.t.Helper()
	c.Project = h.project
	done, err := h.engine.CallTool(h.t.Context(), c)
	if err != nil {
		h.t.Fatal(err)
	}
	return done
}

func TestCallTool(t *testing.T) {
	h := newHouse(t)
	h.call(ToolCall{Tool: "read"}) // makes the project and its run
	h.store.setRefuse(nil)
	h.tools.on("bash", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		return sdk.ToolResult{
			Output: "out\nerr\n", Error: "exit status 3", Outcome: sdk.Exit(3),
			Metadata: map[string]any{"exit_code": 3, "stdout": "out\n" + strings.Repeat("x", 300), "stderr": "err\n"},
		}, nil
	})
	done := h.call(ToolCall{Tool: "bash", Arguments: json.RawMessage(`{"command":"ls"}`)})
	if done.Result.Success || done.Result.Error != "exit status 3" || done.Result.Metadata["stdout"] == nil {
		t.Errorf("result %+v", done.Result)
	}
	if done.Entry.Path != "log://turn_2/bash/call" || done.Entry.State != sdk.StateFailed || done.Entry.Outcome != "exit:3" || done.Run.Alias != "tools" || !done.Run.Hidden {
		t.Errorf("%+v in %+v", done.Entry, done.Run)
	}
	if n := len(h.store.commits()); n != 2 {
		t.Errorf("%d commits", n)
	}
	h.check(done.Run.ID)
}

// TestCallToolWithAModel: the plugin that names no model asks the one that the call names.
func TestCallToolWithAModel(t *testing.T) {
	h := prepareHouse(t)
	h.tools.add("ask", sdk.Annotations{ReadOnly: true}, true)
	h.config.Services = new(Services)
	models := &aliases{fakeModels: h.models}
	h.config.Models = models
	h.tools.on("ask", func(ctx context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		return sdk.ToolResult{Success: true}, h.config.Services.Complete(ctx, caller(c), sdk.Request{}, func(sdk.Delta) error { return nil })
	})
	h.start()
	for _, model := range []string{"fake/other", "missing", ""} {
		done := h.call(ToolCall{Tool: "ask", Model: model})
		if missing := model == "missing"; done.Result.Success == missing || missing && !strings.Contains(done.Result.Error, `there is no model "missing"`) {
			t.Errorf("with the model %q: %+v", model, done.Result)
		}
	}
	if want := []string{"fake/other", "fake/m"}; !slices.Equal(models.asked, want) {
		t.Errorf("the models %q were asked, want %q", models.asked, want)
	}
}

// aliases notes which models are asked.
type aliases struct {
	*fakeModels
	asked []string
}

func (m *aliases) Complete(ctx context.Context, alias string, req sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
	m.asked = append(m.asked, alias)
	return m.fakeModels.Complete(ctx, alias, req, send, retry)
}

func TestCallToolRefused(t *testing.T) {
	h := newHouse(t)
	h.call(ToolCall{Tool: "read"})
	for _, c := range []struct {
		call ToolCall
		want sdk.Outcome
	}{
		{ToolCall{Tool: "write", Arguments: json.RawMessage(`{"path":"/etc/x"}`)}, sdk.Permission},
		{ToolCall{Tool: "loose"}, sdk.Permission},
		{ToolCall{Tool: "nosuch"}, sdk.NotFound},
		{ToolCall{Tool: "read", Arguments: json.RawMessage(`[1]`)}, sdk.Validation},
	} {
		h.store.setRefuse(nil)
		done := h.callUnapproved(c.call)
		if done.Result.Success || done.Entry.Outcome != c.want || done.Result.Error == "" {
			t.Errorf("%s: %+v", c.call.Tool, done)
		}
		if n := len(h.store.commits()); n != 1 {
			t.Errorf("%s: %d commits", c.call.Tool, n)
		}
		h.check(done.Run.ID)
	}
	if got := strings.Join(h.tools.calledTools(), " "); got != "read" {
		t.Errorf("ran %q", got)
	}
}

func TestCallToolInARun(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := newHouse(t, calls(numbered("read", 1)), hanging(begun))
	a := h.submit(Submission{Run: "r"})
	<-begun
	done := h.call(ToolCall{Tool: "write", Run: "r", Arguments: json.RawMessage(`{"path":"x"}`)})
	if done.Run.ID != a.Run.ID || done.Entry.Path != "log://turn_3/write/x" || !done.Result.Success {
		t.Errorf("%+v", done)
	}
	if err := h.engine.Abort(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	if l := h.run(Submission{Run: "r"}); l.Status != 200 {
		t.Errorf("ended %d: %s", l.Status, l.Reason)
	}
	if _, err := h.engine.CallTool(t.Context(), ToolCall{Project: h.project, Approved: true, Tool: "read", Run: "gone"}); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("a run that is not there: %v", err)
	}
}

// spec: wrong_action_names
func TestCallToolManyAtOnce(t *testing.T) {
	h := newHouse(t)
	var mu sync.Mutex
	paths := map[string]bool{}
	var run int64
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			done, err := h.engine.CallTool(context.Background(), ToolCall{Project: h.project, Approved: true, Tool: "read", Arguments: json.RawMessage(fmt.Sprintf(`{"path":"f%d"}`, i))})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			paths[done.Entry.Path] = true
			run = done.Run.ID
		})
	}
	all.Wait()
	if len(paths) != 20 {
		t.Errorf("%d entries", len(paths))
	}
	h.check(run)
}

// TestCallWhoseTurnIsRefused: those that were numbered behind it take the numbers that
// are free.
func TestCallWhoseTurnIsRefused(t *testing.T) {
	h := newHouse(t)
	h.call(ToolCall{Tool: "read"})
	var once sync.Once
	h.store.setRefuse(func(n int, c sdk.Change) (err error) {
		if c.OpenTurn != nil && n > 2 {
			once.Do(func() {
				c.Queued() // others are numbered from here on
				err = sdk.Errorf(sdk.Internal, "no")
			})
		}
		return err
	})
	const calls = 12
	failed := make([]error, calls)
	paths := make([]string, calls)
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() {
			done, err := h.engine.CallTool(t.Context(), ToolCall{Project: h.project, Tool: "read", Approved: true})
			failed[i], paths[i] = err, done.Entry.Path
		})
	}
	all.Wait()
	refused := 0
	for i, err := range failed {
		if err != nil {
			refused++
			paths[i] = ""
		}
	}
	slices.Sort(paths)
	var want []string
	for n := range calls - 1 {
		want = append(want, fmt.Sprintf("log://turn_%d/read/call", n+2))
	}
	slices.Sort(want)
	if refused != 1 || !slices.Equal(paths[1:], want) {
		t.Errorf("%d refused: %v\n%v", refused, errors.Join(failed...), paths)
	}
}

func TestCallToolThatIsGivenUp(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := newHouse(t)
	h.tools.on("bash", waiting(begun))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	done, err := h.engine.CallTool(ctx, ToolCall{Project: h.project, Approved: true, Tool: "bash"})
	if err != nil || done.Entry.State != sdk.StateCancelled || done.Entry.Outcome != sdk.Aborted {
		t.Errorf("%+v, %v", done.Entry, err)
	}
	h.check(done.Run.ID)
}

func TestCallToolLeftByADeath(t *testing.T) {
	h := prepareHouse(t)
	ctx := t.Context()
	p, err := h.store.OpenProject(ctx, h.project)
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.store.CreateRun(ctx, sdk.Run{Project: p.ID, Agent: "tools", Alias: "tools", Hidden: true})
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.store.Commit(ctx, sdk.Change{Run: r.ID, OpenTurn: &sdk.Turn{}, Writes: []sdk.Write{{
		Path: "log://turn_1/bash/x", Writer: sdk.WriterSystem, State: sdk.StateStreaming, Phase: sdk.PhaseStarted, Turn: 1,
		Attributes: encode(sdk.ActionCall{CallID: "call_1", Tool: "bash"}),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	h.start()
	h.untilClosed(r.ID)
	if got := h.outcomes(r.ID); got != "bash:failed:interrupted" {
		t.Errorf("got %s", got)
	}
	if done := h.call(ToolCall{Tool: "read"}); done.Entry.Path != "log://turn_2/read/call" {
		t.Errorf("%s", done.Entry.Path)
	}
	h.check(r.ID)
}

// TestCallThatJoinsARun: the model reads it as what the person did, from its next request
// on; another call of a client it does not read.
func TestCallThatJoinsARun(t *testing.T) {
	h := newHouse(t, say("one"), say("two"))
	h.run(Submission{Run: "r"})
	h.tools.on("bash", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		return sdk.ToolResult{Success: true, Output: "a.go"}, nil
	})
	joined := h.call(ToolCall{Tool: "bash", Run: "r", Arguments: json.RawMessage(`{"command":"ls"}`), Join: true})
	h.call(ToolCall{Tool: "bash", Run: "r", Arguments: json.RawMessage(`{"command":"apart"}`)})
	if a, err := sdk.ActionOf(joined.Entry); err != nil || !a.Person {
		t.Errorf("%+v %v", a, err)
	}
	h.run(Submission{Run: "r"})
	messages := h.models.asked()[1].Messages
	text := fmt.Sprint(messages)
	if !strings.Contains(text, "The person ran this themselves") || !strings.Contains(text, "a.go") || strings.Contains(text, "apart") {
		t.Errorf("the model read %s", text)
	}
	h.check(joined.Run.ID)
}

// TestCallThatIsCancelled: by its path, or with all of its run; what a loop calls is not
// among them.
func TestCallThatIsCancelled(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := newHouse(t)
	h.tools.on("bash", waiting(begun))
	for _, path := range []string{"", "log://turn_2/bash/call"} {
		over := make(chan ToolDone, 1)
		go func() { over <- h.call(ToolCall{Tool: "bash"}) }()
		<-begun
		run, err := h.store.RunByAlias(t.Context(), 1, toolsAlias)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.engine.CancelCall(t.Context(), run.ID, "log://turn_9/bash/call"); sdk.OutcomeOf(err) != sdk.Conflict {
			t.Errorf("another: %v", err)
		}
		ended, err := h.engine.CancelCall(t.Context(), run.ID, path)
		if err != nil || len(ended) != 1 || path != "" && ended[0] != path {
			t.Errorf("%q %v", ended, err)
		}
		if done := <-over; done.Entry.State != sdk.StateCancelled || done.Entry.Outcome != sdk.Aborted {
			t.Errorf("%+v", done.Entry)
		}
		if _, err := h.engine.CancelCall(t.Context(), run.ID, ""); sdk.OutcomeOf(err) != sdk.Conflict {
			t.Errorf("none: %v", err)
		}
	}
}
