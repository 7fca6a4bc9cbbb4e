package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
	sdkhook "github.com/bothyd/bothy/sdk/hook"
)

func TestCatalogueNames(t *testing.T) {
	c := New(hclog.NewNullLogger())
	snake := regexp.MustCompile(`^[a-z]+(\.[a-z]+(_[a-z]+)*)+$`)
	seen := map[string]bool{}
	for _, p := range c.Catalogue() {
		if !snake.MatchString(p.Name) {
			t.Errorf("%q is not snake_case", p.Name)
		}
		if seen[p.Name] {
			t.Errorf("%q appears twice", p.Name)
		}
		seen[p.Name] = true
		if p.Doc == "" || p.Kind != sdk.HookEvent && p.Kind != sdk.HookFilter {
			t.Errorf("%q lacks a doc or a kind: %+v", p.Name, p)
		}
	}
	kinds := map[string]sdk.HookKind{
		"project.init.started": "event", "project.init.completed": "event", "run.created": "event",
		"run.reset": "event", "run.expired": "event", "run.deleted": "event",
		"ask.started": "event", "act.started": "event", "ask.completed": "event", "act.completed": "event",
		"run.progress": "event", "run.state": "event", "run.step.completed": "event",
		"loop.started": "event", "loop.completed": "event", "turn.started": "event", "context.materialized": "event",
		"assembly.system": "filter", "assembly.user": "filter", "instructions.tool_docs": "filter",
		"instructions.resolve_system_prompt": "filter", "turn.before_dispatch": "filter", "turn.dispatched": "event",
		"llm.messages": "filter", "llm.request.started": "event", "llm.request.completed": "event",
		"llm.response": "filter", "llm.reasoning": "filter", "turn.response": "event", "entry.recording": "filter",
		"tool.before": "event", "tool.after": "event", "entry.created": "event", "entry.changed": "event",
		"proposal.prepare": "event", "proposal.pending": "event", "proposal.accepting": "filter",
		"proposal.content": "filter", "proposal.accepted": "event", "proposal.rejected": "event",
		"turn.verdict": "filter", "error.log": "event", "stream.cancelled": "event", "turn.completed": "event",
		"ui.render": "event", "ui.notify": "event", "socket.message.raw": "filter", "rpc.request": "filter",
		"rpc.response.result": "filter", "rpc.started": "event", "rpc.completed": "event", "rpc.error": "event",
	}
	for name, kind := range kinds {
		s, ok := c.byName[name]
		if !ok {
			t.Errorf("%q is missing", name)
		} else if s.Point().Kind != kind {
			t.Errorf("%q is a %s, want %s", name, s.Point().Kind, kind)
		}
	}
	if len(kinds) != len(seen) {
		t.Errorf("the catalogue has %d names, the test knows %d", len(seen), len(kinds))
	}
}

func TestPriorityOrderIsStable(t *testing.T) {
	c := New(hclog.NewNullLogger())
	for i, p := range []int{10, 5, 10, 999, 1, 5} {
		c.AssemblySystem.On(p, fmt.Sprint(i), false, func(_ context.Context, v sdk.Prompt) (sdk.Prompt, error) {
			v.System += fmt.Sprint(i)
			return v, nil
		})
	}
	got, err := c.AssemblySystem.Apply(t.Context(), sdk.Prompt{})
	if err != nil || got.System != "415023" {
		t.Fatalf("order %q, %v; want 415023", got.System, err)
	}
}

func TestRemoveTakesOneAway(t *testing.T) {
	c := New(hclog.NewNullLogger())
	var heard []string
	on := func(name string) func() {
		return c.LoopStarted.On(10, name, func(context.Context, sdk.LoopEvent) error { heard = append(heard, name); return nil })
	}
	on("a")
	remove := on("b")
	on("c")
	remove()
	remove()
	c.LoopStarted.Emit(t.Context(), sdk.LoopEvent{})
	if !slices.Equal(heard, []string{"a", "c"}) {
		t.Fatalf("heard %v", heard)
	}
}

func TestFailingListenerIsIsolated(t *testing.T) {
	c := New(hclog.NewNullLogger())
	heard := 0
	c.TurnStarted.On(1, "fails", func(context.Context, sdk.TurnEvent) error { return errors.New("no") })
	c.TurnStarted.On(2, "panics", func(context.Context, sdk.TurnEvent) error { panic("no") })
	c.TurnStarted.On(3, "hears", func(context.Context, sdk.TurnEvent) error { heard++; return nil })
	c.TurnStarted.Emit(t.Context(), sdk.TurnEvent{})
	if heard != 1 {
		t.Fatalf("the third listener heard %d times", heard)
	}
}

func TestFailingFilter(t *testing.T) {
	boom := func(context.Context, sdk.Recording) (sdk.Recording, error) {
		return sdk.Recording{}, errors.New("boom")
	}
	panics := func(context.Context, sdk.Recording) (sdk.Recording, error) { panic("boom") }
	for name, call := range map[string]func(context.Context, sdk.Recording) (sdk.Recording, error){"error": boom, "panic": panics} {
		t.Run("guard "+name, func(t *testing.T) {
			c := New(hclog.NewNullLogger())
			c.EntryRecording.On(10, "guard", false, call)
			_, err := c.EntryRecording.Apply(t.Context(), sdk.Recording{Tool: "x"})
			if sdk.OutcomeOf(err) != sdk.Permission {
				t.Fatalf("a failing guard passed: %v", err)
			}
		})
	}
	plain := New(hclog.NewNullLogger())
	plain.AssemblyUser.On(10, "ignored", false, func(context.Context, sdk.Prompt) (sdk.Prompt, error) {
		return sdk.Prompt{}, errors.New("boom")
	})
	got, err := plain.AssemblyUser.Apply(t.Context(), sdk.Prompt{System: "kept"})
	if err != nil || got.System != "kept" {
		t.Fatalf("a failing plain filter: %q, %v", got.System, err)
	}
	plain.AssemblyUser.On(11, "strict", true, func(context.Context, sdk.Prompt) (sdk.Prompt, error) {
		return sdk.Prompt{}, errors.New("boom")
	})
	if _, err := plain.AssemblyUser.Apply(t.Context(), sdk.Prompt{}); sdk.OutcomeOf(err) != sdk.Permission {
		t.Fatalf("a filter that denies on failure passed: %v", err)
	}
}

// scripted is a hook as a plugin writes one.
type scripted struct {
	subs   []sdk.Subscription
	filter func(name string, value json.RawMessage) (json.RawMessage, error)

	mu     sync.Mutex
	events []string
}

func (s *scripted) Subscriptions() []sdk.Subscription { return s.subs }

func (s *scripted) Event(_ context.Context, name string, payload json.RawMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, name+" "+string(payload))
	return nil
}

func (s *scripted) Filter(_ context.Context, name string, value json.RawMessage) (json.RawMessage, error) {
	return s.filter(name, value)
}

func TestSubscribeJSON(t *testing.T) {
	c := New(hclog.NewNullLogger())
	h := &scripted{
		subs: []sdk.Subscription{{Name: "run.created", Priority: 10}, {Name: "turn.verdict", Priority: 3}},
		filter: func(_ string, value json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(strings.Replace(string(value), `"continue":true`, `"continue":false`, 1)), nil
		},
	}
	remove, err := c.Subscribe("plugin", h)
	if err != nil {
		t.Fatal(err)
	}
	c.RunCreated.Emit(t.Context(), sdk.RunEvent{Project: "/p"})
	if len(h.events) != 1 || !strings.Contains(h.events[0], `"project":"/p"`) {
		t.Fatalf("events %v", h.events)
	}
	got, err := c.TurnVerdict.Apply(t.Context(), sdk.TurnResult{Turn: 4, Ruling: sdk.Ruling{Continue: true}})
	if err != nil || got.Ruling.Continue || got.Turn != 4 {
		t.Fatalf("%+v, %v", got, err)
	}
	remove()
	if c.TurnVerdict.Active() || c.RunCreated.Active() {
		t.Fatal("still subscribed")
	}
}

func TestGuardThatReturnsNonsenseDenies(t *testing.T) {
	for _, answer := range []string{"", "null", "  ", "{", `"text"`, `[]`, `{"ruling":7}`} {
		c := New(hclog.NewNullLogger())
		h := &scripted{
			subs:   []sdk.Subscription{{Name: "turn.verdict"}},
			filter: func(string, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(answer), nil },
		}
		if _, err := c.Subscribe("plugin", h); err != nil {
			t.Fatal(err)
		}
		if _, err := c.TurnVerdict.Apply(t.Context(), sdk.TurnResult{}); sdk.OutcomeOf(err) != sdk.Permission {
			t.Errorf("answer %q passed: %v", answer, err)
		}
	}
}

func TestUnknownNames(t *testing.T) {
	c := New(hclog.NewNullLogger())
	for name, near := range map[string]string{
		"turn.beforeDispatch":   "turn.before_dispatch",
		"instructions.toolDocs": "instructions.tool_docs",
		"turn.verdikt":          "turn.verdict",
		"loop.complete":         "loop.completed",
		"":                      "",
	} {
		h := &scripted{subs: []sdk.Subscription{{Name: "run.created"}, {Name: name}}}
		_, err := c.Subscribe("p", h)
		if sdk.OutcomeOf(err) != sdk.NotFound || !strings.Contains(err.Error(), near) {
			t.Errorf("%q: %v, want it to name %q", name, err, near)
		}
		if c.RunCreated.Active() {
			t.Fatalf("%q: half of a wrong hook was subscribed", name)
		}
	}
	if err := c.Check(sdk.Subscription{Name: "run.created", Failure: sdk.FailClosed}); err == nil {
		t.Error("an event that denies was accepted")
	}
	if err := c.Check(sdk.Subscription{Name: "turn.verdict", Failure: "maybe"}); err == nil {
		t.Error("a failure mode that does not exist was accepted")
	}
}

func TestSubscriberTimeIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(hclog.NewNullLogger())
		hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		c.RunDeleted.On(10, "slow", func(ctx context.Context, _ sdk.RunEvent) error { return hang(ctx) })
		start := time.Now()
		c.RunDeleted.Emit(t.Context(), sdk.RunEvent{})
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("run.deleted waited %v", took)
		}
		c.TurnVerdict.On(10, "slow", false, func(ctx context.Context, v sdk.TurnResult) (sdk.TurnResult, error) { return v, hang(ctx) })
		start = time.Now()
		if _, err := c.TurnVerdict.Apply(t.Context(), sdk.TurnResult{}); err == nil {
			t.Error("a guard that never answers passed")
		}
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("turn.verdict waited %v", took)
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	c := New(hclog.NewNullLogger())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				remove := c.EntryChanged.On(10, "x", func(context.Context, sdk.EntryEvent) error { return nil })
				c.EntryChanged.Emit(context.Background(), sdk.EntryEvent{})
				remove()
			}
		})
	}
	wg.Wait()
	if c.EntryChanged.Active() {
		t.Fatal("a subscriber was left behind")
	}
}

func BenchmarkApplyWithoutSubscribers(b *testing.B) {
	c := New(hclog.NewNullLogger())
	for b.Loop() {
		if _, err := c.LLMMessages.Apply(b.Context(), sdk.Prompt{}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestOneCatalogue: what authors of plugins are told of the catalogue is what it is.
func TestOneCatalogue(t *testing.T) {
	c := New(hclog.NewNullLogger())
	told := map[string]sdkhook.Point{}
	for _, p := range sdkhook.Catalogue() {
		told[p.Name] = p
	}
	if len(told) != len(c.order) {
		t.Errorf("authors are told %d names, and there are %d", len(told), len(c.order))
	}
	for _, p := range c.Catalogue() {
		does := map[sdk.HookKind]string{sdk.HookEvent: "Emit", sdk.HookFilter: "Apply"}[p.Kind]
		m, ok := reflect.TypeOf(c.byName[p.Name]).MethodByName(does)
		if !ok {
			t.Fatalf("%s cannot %s", p.Name, does)
		}
		if want := (sdkhook.Point{Name: p.Name, Kind: p.Kind, Payload: m.Type.In(2)}); told[p.Name] != want {
			t.Errorf("authors are told %v, want %v", told[p.Name], want)
		}
	}
}
