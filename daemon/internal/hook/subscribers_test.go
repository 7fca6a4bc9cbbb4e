package hook

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
)

// problems are what was told of subscriptions, each once.
type problems struct {
	all  []string
	held map[string]string // by name
}

func (p *problems) report(name string, err error) {
	switch {
	case err == nil:
		delete(p.held, name)
	case p.held[name] != err.Error():
		p.held = map[string]string{name: err.Error()}
		p.all = append(p.all, err.Error())
	}
}

// denier is a hook that cannot rule, which denies.
type denier struct{ name string }

func (d *denier) Subscriptions() []sdk.Subscription {
	return []sdk.Subscription{{Name: d.name, Priority: 10}}
}

func (d *denier) Event(context.Context, string, json.RawMessage) error { return nil }

func (d *denier) Filter(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, errors.New("the plugin is down")
}

// TestLateHookIsHeard: a guard that was described late, or whose subscription
// was wrong at first, denies from then on, and is asked once.
func TestLateHookIsHeard(t *testing.T) {
	chains := New(hclog.NewNullLogger())
	var known []Subscriber
	var told problems
	l := NewSubscribers(chains, func() []Subscriber { return known }, told.report)
	d := &denier{name: "entry.recordin"}
	known = []Subscriber{{"guard", d}}
	l.Update()
	if len(told.all) != 0 {
		t.Errorf("something was subscribed before the start was over: %q", told.all)
	}
	l.Begin()
	l.Update()
	if len(told.all) != 1 || len(told.held) != 1 {
		t.Errorf("a wrong subscription was told %d times: %q", len(told.all), told.all)
	}
	d.name = "entry.recording"
	l.Update()
	if _, err := chains.EntryRecording.Apply(t.Context(), sdk.Recording{}); sdk.OutcomeOf(err) != sdk.Permission {
		t.Errorf("the late guard was not asked: %v", err)
	}
	if len(told.held) != 0 {
		t.Errorf("a problem that holds no more: %q", told.held)
	}
	count := &counter{}
	known = append(known, Subscriber{"counter", count})
	l.Update()
	l.Update()
	chains.ToolAfter.Emit(t.Context(), sdk.EntryEvent{})
	if count.heard != 1 {
		t.Errorf("an event was heard %d times", count.heard)
	}
	known = []Subscriber{{"counter", count}} // the guard's block is gone
	l.Update()
	if _, err := chains.EntryRecording.Apply(t.Context(), sdk.Recording{}); err != nil {
		t.Errorf("a guard that is gone was asked: %v", err)
	}
	chains.ToolAfter.Emit(t.Context(), sdk.EntryEvent{})
	if count.heard != 2 {
		t.Errorf("two events were heard %d times", count.heard)
	}
}

// TestOneWrongNameOfSeveral: the guard beside it still denies.
func TestOneWrongNameOfSeveral(t *testing.T) {
	chains := New(hclog.NewNullLogger())
	var told problems
	both := &two{denier{name: "entry.recording"}}
	l := NewSubscribers(chains, func() []Subscriber { return []Subscriber{{"guard", both}} }, told.report)
	l.Begin()
	l.Update()
	if len(told.all) != 1 || !strings.Contains(told.all[0], `there is no hook "tool.afer"; the nearest name is "tool.after"`) {
		t.Errorf("told %q", told.all)
	}
	if _, err := chains.EntryRecording.Apply(t.Context(), sdk.Recording{}); sdk.OutcomeOf(err) != sdk.Permission {
		t.Errorf("the guard was not asked: %v", err)
	}
}

// two is a denier that also asks for what there is not.
type two struct{ denier }

func (d *two) Subscriptions() []sdk.Subscription {
	return append(d.denier.Subscriptions(), sdk.Subscription{Name: "tool.afer", Priority: 10})
}

type counter struct {
	denier
	heard int
}

func (c *counter) Subscriptions() []sdk.Subscription {
	return []sdk.Subscription{{Name: "tool.after", Priority: 10}}
}

func (c *counter) Event(context.Context, string, json.RawMessage) error { c.heard++; return nil }

// TestWhatToDoAboutAGuard: a plugin that cannot rule says in the denial how it is switched
// off, and one that did not answer how it is started anew. A refusal says no such thing.
func TestWhatToDoAboutAGuard(t *testing.T) {
	for outcome, want := range map[sdk.Outcome]string{
		sdk.Unavailable: "not there; enabled = false in the block of guard switches it off",
		sdk.Timeout:     "not there; `bothy plugins reload guard` starts it anew, and enabled = false in the block of guard switches it off",
		sdk.Permission:  "guard refused: not there",
	} {
		chains := New(hclog.NewNullLogger())
		if _, err := chains.Subscribe("guard", failer{outcome}); err != nil {
			t.Fatal(err)
		}
		if _, err := chains.EntryRecording.Apply(t.Context(), sdk.Recording{}); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", outcome, err)
		}
	}
}

// failer is a guard that fails with an outcome.
type failer struct{ outcome sdk.Outcome }

func (failer) Subscriptions() []sdk.Subscription {
	return []sdk.Subscription{{Name: "entry.recording"}}
}
func (failer) Event(context.Context, string, json.RawMessage) error { return nil }
func (f failer) Filter(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, sdk.Errorf(f.outcome, "not there")
}
