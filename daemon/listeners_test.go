package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/sdk"
)

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
	chains := hook.New(hclog.NewNullLogger())
	var known []listener
	var told []string
	var held problems
	l := newListeners(chains, func() []listener { return known }, &held, func(text string) { told = append(told, text) })
	d := &denier{name: "entry.recordin"}
	known = []listener{{"guard", d}}
	l.update()
	if len(told) != 0 {
		t.Errorf("something was subscribed before the start was over: %q", told)
	}
	l.begin()
	l.update()
	if len(told) != 1 || len(held.texts()) != 1 {
		t.Errorf("a wrong subscription was told %d times: %q", len(told), told)
	}
	d.name = "entry.recording"
	l.update()
	if _, err := chains.EntryRecording.Apply(t.Context(), sdk.Recording{}); sdk.OutcomeOf(err) != sdk.Permission {
		t.Errorf("the late guard was not asked: %v", err)
	}
	if left := held.texts(); len(left) != 0 {
		t.Errorf("a problem that holds no more: %q", left)
	}
	count := &counter{}
	known = append(known, listener{"counter", count})
	l.update()
	l.update()
	chains.ToolAfter.Emit(t.Context(), sdk.EntryEvent{})
	if count.heard != 1 {
		t.Errorf("an event was heard %d times", count.heard)
	}
	known = []listener{{"counter", count}} // the guard's block is gone
	l.update()
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
	chains := hook.New(hclog.NewNullLogger())
	var told []string
	var held problems
	both := &two{denier{name: "entry.recording"}}
	l := newListeners(chains, func() []listener { return []listener{{"guard", both}} }, &held, func(text string) { told = append(told, text) })
	l.begin()
	l.update()
	if len(told) != 1 || !strings.Contains(told[0], `there is no hook "tool.afer"; the nearest name is "tool.after"`) {
		t.Errorf("told %q", told)
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
