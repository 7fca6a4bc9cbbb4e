package sdktest

import (
	"encoding/json"
	"testing"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/hook"
)

// Heard is something that a hook is told: an event, or a filter's value.
type Heard struct {
	Name   string
	Filter bool
	Value  any // encoded as JSON, as the catalogue's type for the name
}

// Hook checks an implementation of the kind hook: its subscriptions are whole,
// and each filter answers with JSON of the type that it was given.
func Hook(t *testing.T, impl hook.Hook, heard ...Heard) {
	t.Helper()
	client := hook.NewClient(Pair(t, func(s grpc.ServiceRegistrar) { hook.Register(s, impl) }), impl.Subscriptions()...)
	t.Run("subscriptions", func(t *testing.T) {
		if len(client.Subscriptions()) == 0 {
			t.Error("the hook subscribes to nothing")
		}
		for _, s := range client.Subscriptions() {
			if s.Name == "" {
				t.Errorf("a subscription has no name: %+v", s)
			}
			if s.Failure != "" && s.Failure != sdk.FailOpen && s.Failure != sdk.FailClosed {
				t.Errorf("%s: failure is %q, want open or closed", s.Name, s.Failure)
			}
		}
	})
	for _, h := range heard {
		t.Run(h.Name, func(t *testing.T) { hears(t, client, h) })
	}
}

func hears(t *testing.T, client hook.Hook, h Heard) {
	t.Helper()
	value, err := json.Marshal(h.Value)
	if err != nil {
		t.Fatal(err)
	}
	if !h.Filter {
		if err := client.Event(soon(t), h.Name, value); err != nil {
			t.Errorf("the event failed: %v", err)
		}
		return
	}
	out, err := client.Filter(soon(t), h.Name, value)
	if err != nil {
		t.Errorf("the filter failed: %v", err)
		return
	}
	if kindOf(t, out) != kindOf(t, value) {
		t.Errorf("the filter was given %s and answered %s", value, out)
	}
}

// kindOf tells JSON objects, arrays, texts and the rest apart.
func kindOf(t *testing.T, b json.RawMessage) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Errorf("%q is no JSON: %v", b, err)
		return ""
	}
	switch v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "text"
	}
	return "other"
}
