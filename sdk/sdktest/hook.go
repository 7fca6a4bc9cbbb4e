package sdktest

import (
	"bytes"
	"encoding/json"
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
	if !h.Filter {
		if err := client.Event(soon(t), h.Name, value); err != nil {
			t.Errorf("told %s, the hook failed: %v", value, err)
		}
		return
	}
	out, err := client.Filter(soon(t), h.Name, value)
	if err != nil {
		t.Errorf("given %s, the filter failed: %v", value, err)
		return
	}
	if err := conformance.Filtered(value, out); err != nil {
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
