package conformance

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/hook"
)

// Names that no catalogue has: a later one might.
const (
	noEvent  = "x.later.event"
	noFilter = "x.later.filter"
)

// HookChecks are the checks of the kind hook. What it subscribes to is told it
// only with Subject.Call.
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
	values, err := payloads(s, sub.Name)
	if err != nil {
		return err
	}
	p, known := sdk.FindHook(sub.Name)
	var reservations []error
	for _, value := range values {
		value = Later(sub.Name, value)
		var err error
		if !known || p.Kind == sdk.HookEvent {
			err = hears(ctx, s, sub, p, value)
		}
		if err == nil && (!known || p.Kind == sdk.HookFilter) {
			err = filters(ctx, s, sub, p, value)
		}
		switch {
		case err != nil && severity(err) == Failed:
			return fmt.Errorf("told %s: %w", value, err)
		case err != nil && len(reservations) == 0: // one of a sort is enough
			reservations = append(reservations, err)
		}
	}
	return errors.Join(append(reservations, alive(ctx, s))...)
}

func hears(ctx context.Context, s Subject, sub sdk.Subscription, p sdk.HookPoint, value json.RawMessage) error {
	return inLimit(ctx, sub, p, func(ctx context.Context) error {
		return hook.NewClient(s.Conn).Event(ctx, sub.Name, value)
	})
}

func filters(ctx context.Context, s Subject, sub sdk.Subscription, p sdk.HookPoint, value json.RawMessage) error {
	var out json.RawMessage
	err := inLimit(ctx, sub, p, func(ctx context.Context) (err error) {
		out, err = hook.NewClient(s.Conn).Filter(ctx, sub.Name, value)
		return err
	})
	if err != nil {
		return err
	}
	if err := Filtered(value, out); err != nil {
		return err
	}
	if p.Payload == nil {
		return nil
	}
	if err := json.Unmarshal(out, reflect.New(p.Payload).Interface()); err != nil {
		return fmt.Errorf("what the filter answered is no %v: %w", p.Payload, err)
	}
	return nil
}

// panicked is in what the SDK answers for code that panicked.
const panicked = " panicked: "

// inLimit holds a subscriber to its time, and says what its failure means.
func inLimit(ctx context.Context, sub sdk.Subscription, p sdk.HookPoint, do func(context.Context) error) error {
	means := "that stands in the log, and nothing else comes of it"
	switch {
	case p.Guard || sub.Failure == sdk.FailClosed:
		means = "what was asked is denied"
	case p.Kind == sdk.HookFilter:
		means = "the value passes as it was"
	}
	limit := cmp.Or(p.Limit, patience)
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := do(bounded)
	own := answered(err)
	switch {
	case err == nil:
		return nil
	case own == nil && bounded.Err() != nil:
		return fmt.Errorf("it did not answer within %v: %s, and the daemon ends a plugin that works on for %v; do what takes longer elsewhere, and heed the context", limit, means, grace)
	case own == nil:
		return err
	case strings.Contains(own.Message, panicked):
		return fmt.Errorf("%s: %s", own.Message, means)
	case own.Outcome == sdk.Permission || own.Outcome == sdk.Unavailable:
		return Skip("it could not do its work here, where it is granted nothing and nothing is configured: %s", own.Message)
	}
	return Warn("it failed (%s: %s): %s", own.Outcome, own.Message, means)
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
