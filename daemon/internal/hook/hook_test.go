package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
)

// spec: events_and_filters
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

// TestOwnersAreNamedOnce, also one that subscribed twice.
func TestOwnersAreNamedOnce(t *testing.T) {
	c := New(hclog.NewNullLogger())
	for _, owner := range []string{"b", "a", "b"} {
		c.RunRested.On(10, owner, func(context.Context, sdk.Rest) error { return nil })
	}
	if got := c.RunRested.Owners(); !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("owed it are %q", got)
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
	t.Run("guard that returns something else", func(t *testing.T) {
		c := New(hclog.NewNullLogger())
		h := &scripted{subs: []sdk.Subscription{{Name: "entry.recording"}}, filter: func(string, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(`[1]`), nil }}
		if _, err := c.Subscribe("evil", h); err != nil {
			t.Fatal(err)
		}
		_, err := c.EntryRecording.Apply(t.Context(), sdk.Recording{})
		if text := fmt.Sprint(err); !strings.HasPrefix(text, "evil could not rule on entry.recording, and a guard that fails denies: decode what it returned: json: cannot unmarshal array") {
			t.Error(text)
		}
	})
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

// spec: wrong_hook_name
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

// TestChainsAreTheCatalogue: there is a chain for each name, of the kind and
// the payload that the catalogue says, and no other.
func TestChainsAreTheCatalogue(t *testing.T) {
	c := New(hclog.NewNullLogger())
	for _, p := range sdk.Hooks() {
		chain, ok := c.byName[p.Name]
		if !ok {
			t.Errorf("there is no chain for %s", p.Name)
			continue
		}
		does := map[sdk.HookKind]string{sdk.HookEvent: "Emit", sdk.HookFilter: "Apply"}[p.Kind]
		m, ok := reflect.TypeOf(chain).MethodByName(does)
		if !ok {
			t.Fatalf("%s cannot %s", p.Name, does)
		}
		if m.Type.In(2) != p.Payload {
			t.Errorf("%s carries %v, and the catalogue says %v", p.Name, m.Type.In(2), p.Payload)
		}
	}
	if n := len(sdk.Hooks()); len(c.byName) != n {
		t.Errorf("%d chains, and %d names in the catalogue", len(c.byName), n)
	}
}
