package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/hook"
)

// Names that no catalogue has: a later one might.
const (
	noEvent  = "x.later.event"
	noFilter = "x.later.filter"
)

// HookChecks are the checks of the kind hook. What it subscribes to is told it
// only with Subject.Call, and without a payload that means anything.
func HookChecks(m sdk.Manifest) []Check {
	checks := []Check{
		{"hook: unknown event", func(ctx context.Context, s Subject) error {
			err := hook.NewClient(s.Conn).Event(ctx, noEvent, json.RawMessage("{}"))
			return skips(ctx, s, err, "an event that it did not subscribe to")
		}},
		{"hook: unknown filter", func(ctx context.Context, s Subject) error {
			_, err := hook.NewClient(s.Conn).Filter(ctx, noFilter, json.RawMessage("{}"))
			return skips(ctx, s, err, "a filter that it did not subscribe to")
		}},
	}
	for _, sub := range m.Subscriptions {
		checks = append(checks, Check{"hook " + sub.Name, func(ctx context.Context, s Subject) error { return told(ctx, s, sub) }})
	}
	return checks
}

// skips wants an answer, whichever it is, and a plugin that goes on.
func skips(ctx context.Context, s Subject, err error, what string) error {
	if err != nil && answered(err) == nil {
		return fmt.Errorf("%s broke the connection: %w", what, err)
	}
	return alive(ctx, s)
}

// told tells the hook of what it subscribed to, as an event or as a filter: a
// name that this version does not know is told it as both.
func told(ctx context.Context, s Subject, sub sdk.Subscription) error {
	if !s.Call {
		return Skip("give --call to have it told of %s", sub.Name)
	}
	client := hook.NewClient(s.Conn)
	p, known := sdk.FindHook(sub.Name)
	value := Later(sub.Name, json.RawMessage("{}"))
	if !known || p.Kind == sdk.HookEvent {
		if err := client.Event(ctx, sub.Name, value); err != nil && answered(err) == nil {
			return fmt.Errorf("as an event: %w", err)
		}
	}
	if !known || p.Kind == sdk.HookFilter {
		out, err := client.Filter(ctx, sub.Name, value)
		if err == nil {
			err = Filtered(value, out)
		} else if answered(err) != nil {
			err = nil // it may refuse what means nothing
		}
		if err != nil {
			return fmt.Errorf("as a filter: %w", err)
		}
	}
	return alive(ctx, s)
}

// later is a member that no version knows, and its value.
const (
	later      = "x_later"
	laterValue = `{"later":[1.50,"than you"]}`
)

// Later is the value of a hook as a later daemon may send it, with a member that
// no version knows. One that can have no such member stays as it is.
func Later(name string, value json.RawMessage) json.RawMessage {
	if !open(name) {
		return value
	}
	return withMember(value, later, laterValue)
}

// Filtered says what is wrong with the answer of a filter: it must be JSON of
// the kind that the filter was given, and still have what [Later] put in.
func Filtered(in, out json.RawMessage) error {
	given, err := kindOf(in)
	if err != nil {
		return err
	}
	if got, err := kindOf(out); err != nil || got != given {
		return fmt.Errorf("the filter was given %s and answered %s", in, out)
	}
	var was, is map[string]json.RawMessage
	if json.Unmarshal(in, &was) != nil || was[later] == nil {
		return nil
	}
	if err := json.Unmarshal(out, &is); err != nil || !bytes.Equal(compact(is[later]), compact(was[later])) {
		return fmt.Errorf("the filter lost what it does not know: of %q: %s it left %q; change only the members that you mean, and pass on the others", later, was[later], is[later])
	}
	return nil
}

// compact is JSON without the spaces between its pieces.
func compact(b json.RawMessage) []byte {
	var out bytes.Buffer
	if json.Compact(&out, b) != nil {
		return b
	}
	return out.Bytes()
}

// kindOf tells JSON objects, arrays, texts and the rest apart.
func kindOf(b json.RawMessage) (string, error) {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return "", fmt.Errorf("%q is no JSON: %w", b, err)
	}
	switch v.(type) {
	case map[string]any:
		return "object", nil
	case []any:
		return "array", nil
	case string:
		return "text", nil
	}
	return "other", nil
}
