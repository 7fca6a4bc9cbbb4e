package conformance

import (
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

// told tells the hook of something as an event and as a filter: the catalogue,
// which knows what it is, is the daemon's. One of the two it may refuse.
func told(ctx context.Context, s Subject, sub sdk.Subscription) error {
	if !s.Call {
		return Skip("give --call to have it told of %s", sub.Name)
	}
	client := hook.NewClient(s.Conn)
	if err := client.Event(ctx, sub.Name, json.RawMessage("{}")); err != nil && answered(err) == nil {
		return fmt.Errorf("as an event: %w", err)
	}
	out, err := client.Filter(ctx, sub.Name, json.RawMessage("{}"))
	switch {
	case err != nil && answered(err) == nil:
		return fmt.Errorf("as a filter: %w", err)
	case err == nil:
		if err := Filtered(json.RawMessage("{}"), out); err != nil {
			return err
		}
	}
	return alive(ctx, s)
}

// Filtered says what is wrong with the answer of a filter: it must be JSON of
// the kind that the filter was given.
func Filtered(in, out json.RawMessage) error {
	given, err := kindOf(in)
	if err != nil {
		return err
	}
	if got, err := kindOf(out); err != nil || got != given {
		return fmt.Errorf("the filter was given %s and answered %s", in, out)
	}
	return nil
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
