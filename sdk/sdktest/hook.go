package sdktest

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk/hook"
)

// Heard is something that a hook is told: an event, or a filter's value.
type Heard struct {
	Name   string
	Filter bool
	Value  any // encoded as JSON, as the catalogue's type for the name
}

// grease is what no version knows: a name of a hook, a member of a value. A
// later daemon sends the like.
const (
	greaseName   = "grease.later_than_you"
	greaseMember = "grease_later"
	greaseValue  = `{"later":[1.50,"than you"]}`
)

// Hook checks an implementation of the kind hook: its subscriptions are those
// of the catalogue, each filter answers with JSON of the type that it was given,
// and what a later daemon may send neither fails nor is lost.
func Hook(t *testing.T, impl hook.Hook, heard ...Heard) {
	t.Helper()
	client := hook.NewClient(Pair(t, func(s grpc.ServiceRegistrar) { hook.Register(s, impl) }), impl.Subscriptions()...)
	t.Run("subscriptions", func(t *testing.T) {
		subs := client.Subscriptions()
		if len(subs) == 0 {
			t.Error("the hook subscribes to nothing")
		}
		seen := map[string]bool{}
		for _, s := range subs {
			if err := hook.Check(s); err != nil {
				t.Error(err)
			}
			if seen[s.Name] {
				t.Errorf("%s is subscribed to twice", s.Name)
			}
			seen[s.Name] = true
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
			if greased, ok := greased(value); ok && h.Name != toolDocs {
				keepsGrease(t, h, hears(t, client, h, greased))
			}
		})
	}
	t.Run("unknown names", func(t *testing.T) { unknownNames(t, client) })
}

// toolDocs carries an object of texts, in which no member is unknown.
const toolDocs = "instructions.tool_docs"

// hears tells the hook, and returns what its filter made of the value.
func hears(t *testing.T, client hook.Hook, h Heard, value json.RawMessage) json.RawMessage {
	t.Helper()
	if !h.Filter {
		if err := client.Event(soon(t), h.Name, value); err != nil {
			t.Errorf("told %s, the hook failed: %v", value, err)
		}
		return nil
	}
	out, err := client.Filter(soon(t), h.Name, value)
	if err != nil {
		t.Errorf("given %s, the filter failed: %v", value, err)
		return nil
	}
	if kindOf(t, out) != kindOf(t, value) {
		t.Errorf("the filter was given %s and answered %s", value, out)
	}
	if p, ok := payload(h.Name); ok {
		if err := json.Unmarshal(out, reflect.New(p).Interface()); err != nil {
			t.Errorf("what the filter answered is no %v: %v", p, err)
		}
	}
	return out
}

// payload is the catalogue's type for a name.
func payload(name string) (reflect.Type, bool) {
	for _, p := range hook.Catalogue() {
		if p.Name == name {
			return p.Payload, true
		}
	}
	return nil, false
}

// greased is an object with a member more.
func greased(value json.RawMessage) (json.RawMessage, bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil || members == nil {
		return nil, false
	}
	more := maps.Clone(members)
	more[greaseMember] = json.RawMessage(greaseValue)
	out, err := json.Marshal(more)
	return out, err == nil
}

func keepsGrease(t *testing.T, h Heard, out json.RawMessage) {
	t.Helper()
	if !h.Filter || out == nil {
		return
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(out, &members); err != nil || string(members[greaseMember]) != greaseValue {
		t.Errorf("the filter lost what it does not know: of %s it left %q", greaseValue, members[greaseMember])
	}
}

// unknownNames asks for what the hook did not subscribe to.
func unknownNames(t *testing.T, client hook.Hook) {
	t.Helper()
	if err := client.Event(soon(t), greaseName, json.RawMessage(greaseValue)); err != nil {
		t.Errorf("an event of an unknown name failed: %v", err)
	}
	out, err := client.Filter(soon(t), greaseName, json.RawMessage(greaseValue))
	if err != nil || string(out) != greaseValue {
		t.Errorf("a filter of an unknown name answered %s (%v), want the value as it was", out, err)
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
