package sdktest

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/conformance"
	"github.com/bothyd/bothy/sdk/hook"
)

// Heard is something that a hook is told: an event, or a filter's value.
type Heard struct {
	Name   string
	Filter bool
	Value  any // encoded as JSON, as the catalogue's type for the name
	// Want is a JSON object: members that the value must have as the filter answers it, such
	// as {"state":"failed","outcome":"permission"} of a call that is refused.
	Want string
	// Fails is the outcome of the error with which the hook must answer; empty: it must not fail.
	Fails sdk.Outcome
}

// Hook checks an implementation of the kind hook: its subscriptions are those
// of the catalogue, each filter answers with JSON of the type that it was given,
// and what a later daemon may send neither fails nor is lost.
func Hook(t *testing.T, impl sdk.Hook, heard ...Heard) {
	t.Helper()
	testHook(t, impl, nil, heard)
}

func testHook(t *testing.T, impl sdk.Hook, opts []grpc.ServerOption, heard []Heard) {
	t.Helper()
	conn := Pair(t, func(s grpc.ServiceRegistrar) { hook.Register(s, impl) }, opts...)
	client := hook.NewClient(conn, impl.Subscriptions()...)
	t.Run("subscriptions", func(t *testing.T) {
		subs := client.Subscriptions()
		if len(subs) == 0 {
			t.Error("the hook subscribes to nothing")
		}
		if err := conformance.Subscriptions(subs); err != nil {
			t.Error(err)
		}
		if !slices.Equal(subs, impl.Subscriptions()) {
			t.Error("two calls of Subscriptions differ, without a change of the manifest")
		}
	})
	for _, h := range heard {
		t.Run(h.Name, func(t *testing.T) {
			value, err := json.Marshal(h.Value)
			if err != nil {
				t.Fatal(err)
			}
			hears(t, client, h, value)
			if later := conformance.Later(h.Name, value); !bytes.Equal(later, value) {
				hears(t, client, h, later)
			}
		})
	}
	keeps(t, conn, sdk.Manifest{}, conformance.HookChecks(sdk.Manifest{}))
	t.Run("unknown names", func(t *testing.T) { unknownNames(t, client) })
}

// hears tells the hook, and looks at what its filter made of the value.
func hears(t *testing.T, client sdk.Hook, h Heard, value json.RawMessage) {
	t.Helper()
	var out json.RawMessage
	var err error
	if h.Filter {
		out, err = client.Filter(soon(t), h.Name, value)
	} else {
		err = client.Event(soon(t), h.Name, value)
	}
	if outcome(err) != h.Fails {
		t.Errorf("told %s, the hook answered with the outcome %q (%v), want %q", value, outcome(err), err, h.Fails)
	}
	if err != nil || !h.Filter {
		return
	}
	if err := errors.Join(conformance.Filtered(value, out), lacks(out, h.Want)); err != nil {
		t.Error(err)
	}
	if p, known := sdk.FindHook(h.Name); known {
		if err := json.Unmarshal(out, reflect.New(p.Payload).Interface()); err != nil {
			t.Errorf("what the filter answered is no %v: %v", p.Payload, err)
		}
	}
}

// unknownName is of no catalogue.
const unknownName = "x.later.name"

// unknownNames asks for what the hook did not subscribe to.
func unknownNames(t *testing.T, client sdk.Hook) {
	t.Helper()
	const value = `{"later":[1.50,"than you"]}`
	if err := client.Event(soon(t), unknownName, json.RawMessage(value)); err != nil {
		t.Errorf("an event of an unknown name failed: %v", err)
	}
	out, err := client.Filter(soon(t), unknownName, json.RawMessage(value))
	if err != nil || string(out) != value {
		t.Errorf("a filter of an unknown name answered %s (%v), want the value as it was", out, err)
	}
}
