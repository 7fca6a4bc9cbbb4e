package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/hook"
)

// recorder subscribes to everything, as a plugin does, and changes nothing.
type recorder struct {
	subs []sdk.Subscription

	mu    sync.Mutex
	heard []string
	knows []string // names whose payload had a run's persona
}

func (r *recorder) Subscriptions() []sdk.Subscription { return r.subs }

func (r *recorder) hear(name string, payload json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard = append(r.heard, name)
	if bytes.Contains(payload, []byte(`"persona":`)) {
		r.knows = append(r.knows, name)
	}
}

func (r *recorder) Event(_ context.Context, name string, payload json.RawMessage) error {
	r.hear(name, payload)
	return nil
}

func (r *recorder) Filter(_ context.Context, name string, v json.RawMessage) (json.RawMessage, error) {
	r.hear(name, v)
	return v, nil
}

// TestOrderOfHooks is a prompt's way past every name that it meets.
// spec: events_and_filters
func TestOrderOfHooks(t *testing.T) {
	h := prepareHouse(t, calls(numbered("write", 1)), say("done"))
	r := &recorder{}
	for _, p := range sdk.Hooks() {
		if p.Name != "entry.changed" && !ofSocket(p.Name) {
			r.subs = append(r.subs, sdk.Subscription{Name: p.Name, Priority: 50})
		}
	}
	if _, err := h.hooks.Subscribe("recorder", r); err != nil {
		t.Fatal(err)
	}
	h.start()
	a := h.submit(Submission{})
	h.await(a)
	h.untilIdle()
	want := strings.Fields(`project.init.started project.init.completed run.config run.created act.started loop.started
		turn.started instructions.resolve_system_prompt instructions.tool_docs context.materialized assembly.system assembly.user
		turn.before_dispatch run.progress llm.messages llm.request.started run.progress llm.response llm.request.completed llm.reasoning
		turn.response entry.recording tool.before tool.after entry.created run.state turn.dispatched
		turn.completed run.state run.step.completed turn.verdict
		turn.started instructions.resolve_system_prompt instructions.tool_docs context.materialized assembly.system assembly.user
		turn.before_dispatch run.progress llm.messages llm.request.started run.progress llm.response llm.request.completed llm.reasoning
		turn.response turn.dispatched turn.completed run.state run.step.completed turn.verdict
		loop.completed act.completed run.state run.idle`)
	r.mu.Lock()
	defer r.mu.Unlock()
	got := slices.DeleteFunc(slices.Clone(r.heard), func(n string) bool { return n == "act.started" || n == "loop.started" }) // these two race
	want = slices.DeleteFunc(want, func(n string) bool { return n == "act.started" || n == "loop.started" })
	if !slices.Equal(got, want) {
		t.Errorf("heard\n got %s\nwant %s", strings.Join(got, " "), strings.Join(want, " "))
	}
	if !slices.Contains(r.heard, "act.started") || !slices.Contains(r.heard, "loop.started") {
		t.Error("a start was not told")
	}
	if l := h.await(a); l.Status != 200 {
		t.Errorf("listening changed the end: %d %s", l.Status, l.Reason)
	}
}

func TestHooksChangeThePrompt(t *testing.T) {
	h := newHouse(t)
	h.hooks.AssemblySystem.On(10, "t", false, func(_ context.Context, p sdk.Prompt) (sdk.Prompt, error) {
		p.System += " SYSTEM"
		return p, nil
	})
	h.hooks.LLMMessages.On(10, "t", false, func(_ context.Context, p sdk.Prompt) (sdk.Prompt, error) {
		p.Messages = append(slices.Clone(p.Messages), sdk.Message{Role: sdk.RoleUser, Text: "LAST"})
		return p, nil
	})
	h.hooks.InstructionsToolDocs.On(10, "t", false, func(_ context.Context, docs map[string]string) (map[string]string, error) {
		return map[string]string{"read": "READ DOC", "nosuch": "NO DOC"}, nil
	})
	h.hooks.LLMResponse.On(10, "t", false, func(_ context.Context, c sdk.Completion) (sdk.Completion, error) {
		c.Text = strings.ToUpper(c.Text)
		return c, nil
	})
	a := h.submit(Submission{})
	h.await(a)
	m := h.models.asked()[0].Messages
	if sys := m[0].Text; !strings.HasSuffix(sys, " SYSTEM") || !strings.Contains(sys, "READ DOC") || strings.Contains(sys, "NO DOC") || m[len(m)-1].Text != "LAST" {
		t.Errorf("sent %+v", m)
	}
	if got := h.entries(a.Run.ID, "assistant://")[0].Body; got != "DONE" {
		t.Errorf("answer %q", got)
	}
}

// spec: failure_reporting
func TestRecordingFilterRejects(t *testing.T) {
	h := newHouse(t, calls(numbered("read", 1), numbered("write", 2), numbered("write", 3)))
	h.hooks.EntryRecording.On(10, "t", true, func(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
		if r.Tool == "write" {
			r.State, r.Outcome, r.Body = sdk.StateFailed, sdk.Conflict, "not today"
		}
		return r, nil
	})
	a := h.submit(Submission{})
	h.await(a)
	if got, want := h.outcomes(a.Run.ID), "read:resolved write:failed:conflict write:failed:aborted"; got != want {
		t.Errorf("got %s", got)
	}
	if acts := h.actions(a.Run.ID); acts[1].Body != "t refused this call: not today" {
		t.Errorf("reason %q", acts[1].Body)
	}
	h.check(a.Run.ID)
}

func TestRecordingFilterChangesArguments(t *testing.T) {
	change := func(to string) func(context.Context, sdk.Recording) (sdk.Recording, error) {
		return func(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
			r.Attributes = json.RawMessage(strings.Replace(string(r.Attributes), "f1", to, 1))
			return r, nil
		}
	}
	h := newHouse(t, calls(numbered("write", 1)))
	h.hooks.EntryRecording.On(10, "t", true, change("safe/f1"))
	a := h.submit(Submission{})
	h.await(a)
	if got := string(h.tools.made[0].Arguments); got != `{"path":"safe/f1"}` {
		t.Errorf("the tool got %s", got)
	}
	bad := newHouse(t, calls(numbered("write", 1)))
	bad.hooks.EntryRecording.On(10, "t", true, change("../f1")) // policy judges what the filter left
	b := bad.submit(Submission{})
	bad.await(b)
	if got := bad.outcomes(b.Run.ID); got != "write:failed:permission" {
		t.Errorf("got %s", got)
	}
}

// TestGuardsKnowTheTool: a guard is told the tool's own name and its plugin by whichever of
// its names a model called it, and what the model wrote: by these it cannot be walked around.
func TestGuardsKnowTheTool(t *testing.T) {
	h := newHouse(t, calls(call{"read", `{"path":"a"}`}, call{"fake__read", `{"path":"b"}`}))
	var told []string
	h.hooks.EntryRecording.On(10, "g", false, func(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
		a, err := sdk.ActionOf(sdk.Entry{Path: r.Path, Attributes: r.Attributes})
		told = append(told, strings.Join([]string{r.Tool, a.Plugin, a.Tool}, " "))
		return r, err
	})
	h.await(h.submit(Submission{}))
	if got := strings.Join(told, ", "); got != "read fake read, read fake fake__read" {
		t.Errorf("the guard was told %q", got)
	}
}

// TestHooksKnowAToolByWhatItsPluginDeclares: by one name, of whichever block of the plugin
// it is and whichever name the model wrote, in the raw value and in a typed call, before
// and after it.
func TestHooksKnowAToolByWhatItsPluginDeclares(t *testing.T) {
	h := newHouse(t, calls(numbered("second__write", 1), numbered("fake__write", 2), numbered("write", 3), numbered("mcp__notes__write", 4)), say("done"))
	for name, plugin := range map[string]string{"second__write": "second", "mcp__notes__write": "mcp__notes"} {
		h.tools.add(name, sdk.Annotations{Destructive: true}, true, sdk.GrantProject)
		h.tools.become(name, func(tool *sdk.Tool) {
			if tool.Plugin = plugin; plugin == "second" {
				tool.Declared = "write"
			}
		})
	}
	var mu sync.Mutex
	var raw, typed, after []string
	note := func(to *[]string, tool, plugin string) {
		mu.Lock()
		defer mu.Unlock()
		*to = append(*to, tool+" of "+plugin)
	}
	h.hooks.EntryRecording.On(10, "raw", false, func(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
		var of struct{ Plugin string }
		err := json.Unmarshal(r.Attributes, &of)
		note(&raw, r.Tool, of.Plugin)
		return r, err
	})
	set := hook.Set{
		hook.BeforeCall(func(_ context.Context, c hook.Call) (hook.Call, error) { note(&typed, c.Tool, c.Plugin); return c, nil }),
		hook.AfterCall(func(_ context.Context, c hook.Call) error { note(&after, c.Tool, c.Plugin); return nil }),
	}
	if _, err := h.hooks.Subscribe("typed", set); err != nil {
		t.Fatal(err)
	}
	a := h.submit(Submission{})
	h.await(a)
	want := []string{"write of second", "write of fake", "write of fake", "mcp__notes__write of mcp__notes"}
	for name, got := range map[string][]string{"raw": raw, "typed": typed, "after": after} {
		if !slices.Equal(got, want) {
			t.Errorf("%s: the tools were %q, want %q", name, got, want)
		}
	}
	h.check(a.Run.ID)
}

// TestFailingGuardsDeny: a guard that fails is a deny, never a pass.
func TestFailingGuardsDeny(t *testing.T) {
	no := errors.New("no")
	for name, c := range map[string]struct {
		subscribe func(h *house)
		status    int
		ran       int
	}{
		"entry.recording": {func(h *house) {
			h.hooks.EntryRecording.On(10, "g", false, func(context.Context, sdk.Recording) (sdk.Recording, error) { return sdk.Recording{}, no })
		}, 200, 0},
		"turn.before_dispatch": {func(h *house) {
			h.hooks.TurnBeforeDispatch.On(10, "g", false, func(context.Context, sdk.Prompt) (sdk.Prompt, error) { panic(no) })
		}, 500, 0},
		"turn.verdict": {func(h *house) {
			h.hooks.TurnVerdict.On(10, "g", false, func(context.Context, sdk.TurnResult) (sdk.TurnResult, error) { return sdk.TurnResult{}, no })
		}, 500, 1},
		"turn.verdict with nonsense": {func(h *house) {
			h.hooks.TurnVerdict.On(10, "g", false, func(_ context.Context, r sdk.TurnResult) (sdk.TurnResult, error) {
				return sdk.TurnResult{Ruling: sdk.Ruling{Status: 7}}, nil
			})
		}, 500, 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, calls(numbered("read", 1)))
			c.subscribe(h)
			a := h.submit(Submission{})
			if l := h.await(a); l.Status != c.status {
				t.Errorf("ended %d: %s", l.Status, l.Reason)
			}
			if n := len(h.tools.calledTools()); n != c.ran {
				t.Errorf("%d calls were made", n)
			}
			h.check(a.Run.ID)
		})
	}
}

func TestVerdictFilterStops(t *testing.T) { // V12: the run shows 200, the loop keeps the real code
	for _, status := range []int{204, 422} {
		h := newHouse(t, calls(numbered("read", 1)), calls(numbered("read", 2)), say("never"))
		h.hooks.TurnVerdict.On(10, "t", true, func(_ context.Context, r sdk.TurnResult) (sdk.TurnResult, error) {
			if r.LoopTurn == 2 {
				r.Ruling = sdk.Ruling{Status: status, Stop: "terminal", Reason: "enough"}
			}
			return r, nil
		})
		a := h.submit(Submission{})
		if l := h.await(a); l.Status != status || l.Stop != "terminal" || l.Reason != "enough" {
			t.Errorf("ended %d %q %q", l.Status, l.Stop, l.Reason)
		}
		if r, err := h.store.Run(t.Context(), a.Run.ID); err != nil || r.Status != 200 {
			t.Errorf("run %d, %v", r.Status, err)
		}
		if n := len(h.models.asked()); n != 2 {
			t.Errorf("%d turns", n)
		}
		h.check(a.Run.ID)
	}
}

// TestNobodyLoosensAVerdict: neither before the guards nor behind them.
func TestNobodyLoosensAVerdict(t *testing.T) {
	for _, priority := range []int{-1 << 30, 0, 10, 1 << 30} {
		var steps []step
		for i := range 10 {
			steps = append(steps, calls(numbered("read", i)))
		}
		h := newHouse(t, steps...)
		h.hooks.TurnVerdict.On(priority, "t", false, func(context.Context, sdk.TurnResult) (sdk.TurnResult, error) {
			return sdk.TurnResult{Ruling: sdk.Ruling{Continue: true, Status: 102}}, nil
		})
		h.hooks.EntryRecording.On(priority, "t", false, func(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
			r.State, r.Loop = sdk.StateStreaming, 0
			return r, nil
		})
		if l := h.run(Submission{Agent: "short"}); l.Status != 499 || l.Stop != "max_turns" {
			t.Errorf("priority %d: ended %d %q: %s", priority, l.Status, l.Stop, l.Reason)
		}
		same := call{"read", "{}"}
		h.models.mu.Lock()
		h.models.steps = []step{calls(same), calls(same), calls(same)}
		h.models.mu.Unlock()
		if l := h.run(Submission{}); l.Stop != "repeated_calls" {
			t.Errorf("priority %d: ended %d %q: %s", priority, l.Status, l.Stop, l.Reason)
		}
		if l := h.run(Submission{}); l.Stop != "answer" {
			t.Errorf("priority %d: an answer was not the end: %d %q", priority, l.Status, l.Stop)
		}
	}
}

func TestErrorsAndCancelledStreamsAreTold(t *testing.T) {
	h := newHouse(t, failing(&sdk.ProviderError{Class: sdk.ClassServer, Message: "boom"}))
	var errs, cancelled []string
	h.hooks.ErrorLog.On(10, "t", func(_ context.Context, e sdk.EntryEvent) error { errs = append(errs, e.Entry.Path); return nil })
	h.hooks.StreamCancelled.On(10, "t", func(_ context.Context, e sdk.EntryEvent) error {
		cancelled = append(cancelled, e.Entry.Path)
		return nil
	})
	a := h.submit(Submission{})
	h.await(a)
	h.untilIdle()
	if !slices.Equal(errs, []string{"log://turn_1/error/completion"}) {
		t.Errorf("errors %q", errs)
	}
	begun := make(chan struct{}, 1)
	h.tools.on("bash", waiting(begun))
	h.models.mu.Lock()
	h.models.steps = []step{calls(numbered("bash", 1))}
	h.models.mu.Unlock()
	b := h.submit(Submission{Run: "r"})
	<-begun
	if err := h.engine.Abort(t.Context(), b.Run.ID); err != nil {
		t.Fatal(err)
	}
	h.untilIdle()
	if !slices.Equal(cancelled, []string{"log://turn_1/bash/f1"}) {
		t.Errorf("cancelled %q", cancelled)
	}
}

func TestEntryChanged(t *testing.T) {
	h := prepareHouse(t, calls(numbered("read", 1)))
	var mu sync.Mutex
	seen := map[string]bool{}
	h.hooks.EntryChanged.On(10, "t", func(_ context.Context, e sdk.EntryEvent) error {
		mu.Lock()
		defer mu.Unlock()
		seen[e.Entry.Path+" "+string(e.Entry.Phase)] = true
		return nil
	})
	h.start()
	a := h.submit(Submission{})
	h.await(a)
	h.untilIdle()
	for _, want := range []string{"assistant://1 ", "log://turn_1/read/f1 started", "log://turn_1/read/f1 ended"} {
		if !seen[want] {
			t.Errorf("%q was not told: %v", want, seen)
		}
	}
}

// TestACallThatEndsWithItsLoop: one that came to its own end while its loop was
// aborted, or put down by a stop, is told as one that has run.
func TestACallThatEndsWithItsLoop(t *testing.T) {
	for name, end := range map[string]func(*house, Accepted){
		"aborted": func(h *house, a Accepted) {
			if err := h.engine.Abort(h.t.Context(), a.Run.ID); err != nil {
				h.t.Error(err)
			}
			h.untilIdle()
		},
		"put down": func(h *house, _ Accepted) { h.cut() },
	} {
		t.Run(name, func(t *testing.T) {
			begun := make(chan struct{}, 1)
			h := prepareHouse(t, calls(numbered("write", 1)))
			h.tools.on("write", func(ctx context.Context, _ sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
				begun <- struct{}{}
				<-ctx.Done()
				return ok("written")
			})
			var mu sync.Mutex
			var told []string
			hear := func(what string) func(context.Context, sdk.EntryEvent) error {
				return func(_ context.Context, e sdk.EntryEvent) error {
					mu.Lock()
					defer mu.Unlock()
					if e.Entry.Phase == sdk.PhaseEnded {
						told = append(told, what+" "+e.Entry.Path)
					}
					return nil
				}
			}
			h.hooks.ToolAfter.On(10, "t", hear("after"))
			h.hooks.StreamCancelled.On(10, "t", hear("cancelled"))
			h.hooks.EntryCreated.On(10, "t", hear("created"))
			h.start()
			a := h.submit(Submission{})
			<-begun
			end(h, a)
			mu.Lock()
			defer mu.Unlock()
			if want := []string{"after log://turn_1/write/f1", "created log://turn_1/write/f1"}; !slices.Equal(told, want) {
				t.Errorf("told\n got %q\nwant %q", told, want)
			}
		})
	}
}

// TestAPromptIsToldThoughItsClientWent: what is durable is told, whoever gave up
// waiting for the answer.
func TestAPromptIsToldThoughItsClientWent(t *testing.T) {
	h := prepareHouse(t)
	ctx, leave := context.WithCancel(t.Context())
	h.store.left = leave
	var mu sync.Mutex
	told := map[string]error{}
	hear := func(ctx context.Context, what string) error {
		mu.Lock()
		defer mu.Unlock()
		if _, again := told[what]; !again {
			told[what] = ctx.Err()
		}
		return nil
	}
	h.hooks.EntryChanged.On(10, "t", func(ctx context.Context, e sdk.EntryEvent) error { return hear(ctx, e.Entry.Path) })
	h.hooks.ActStarted.On(10, "t", func(ctx context.Context, _ sdk.LoopEvent) error { return hear(ctx, "act.started") })
	h.start()
	a, err := h.engine.Submit(ctx, Submission{Project: h.project, Prompt: "do it"})
	if err != nil {
		t.Fatal(err)
	}
	h.await(a)
	mu.Lock()
	defer mu.Unlock()
	for _, what := range []string{"prompt://1", "act.started"} {
		if ended, ok := told[what]; !ok || ended != nil {
			t.Errorf("%s: told %v, with a context that says %v", what, ok, ended)
		}
	}
}
