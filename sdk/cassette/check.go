package cassette

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// check holds a cassette to its format.
func (c *Cassette) check() error {
	switch {
	case c.Format != Format:
		return fmt.Errorf("format is %d; this version reads %d", c.Format, Format)
	case c.Model == "":
		return errors.New("model is missing: give the name by which the cassette is chosen")
	case c.Context < 0:
		return errors.New("context is negative")
	case len(c.Steps) == 0:
		return errors.New("there are no steps")
	}
	var before []sdk.Call
	for i := range c.Steps {
		s := &c.Steps[i]
		if s.Context < 0 {
			return fmt.Errorf("step %d: context is negative", i+1)
		}
		if err := checkRequest(s.Request, before, i == 0); err != nil {
			return fmt.Errorf("step %d, %w", i+1, err)
		}
		if err := checkEvents(s.Events); err != nil {
			return fmt.Errorf("step %d, %w", i+1, err)
		}
		if err := s.checkChildren(); err != nil {
			return fmt.Errorf("step %d, %w", i+1, err)
		}
		before = s.said().Calls
	}
	return nil
}

// checkRequest holds a step to what a conversation can be: the results of the
// calls before it, in their order, then what the user says. Where the results stand in
// that, there are none before it.
func checkRequest(request []Expected, calls []sdk.Call, first bool) error {
	if len(request) > 0 && request[0].Role == sdk.RoleUser {
		calls = nil
	}
	for i := range request {
		m := &request[i]
		fail := func(format string, args ...any) error {
			return fmt.Errorf("request message %d: %w", i+1, fmt.Errorf(format, args...))
		}
		switch {
		case i < len(calls) && (m.Role != sdk.RoleTool || m.Tool != calls[i].Tool):
			return fail("it must be the result of tool %q, which the step before called", calls[i].Tool)
		case i < len(calls):
			if m.Text != nil || m.Result == nil {
				return fail("a tool's message has a result and no text")
			}
			if err := m.Result.compile(); err != nil {
				return fail("result: %w", err)
			}
		case m.Role != sdk.RoleUser:
			return fail("role is %q; here only user can be", m.Role)
		case m.Text == nil || m.Tool != "" || m.Result != nil:
			return fail("a user's message has a text and nothing else")
		default:
			if err := m.Text.compile(); err != nil {
				return fail("text: %w", err)
			}
		}
	}
	if len(request) < len(calls) {
		return fmt.Errorf("request: the step before made %d calls and here are %d results", len(calls), len(request))
	}
	if first && len(request) == 0 {
		return errors.New("request: there is no message")
	}
	if first && request[0].Role != sdk.RoleUser {
		return errors.New("request: a conversation begins with the user")
	}
	return nil
}

func (r *Rule) compile() error {
	switch {
	case !one(r.Exact != nil, r.Regex != nil, r.Any):
		return errors.New("write one of exact, regex and any")
	case r.Recorded != nil && r.Exact != nil:
		return errors.New("recorded goes with any and regex")
	}
	if r.Regex == nil {
		return nil
	}
	p, err := regexp.Compile(*r.Regex)
	if err != nil {
		return fmt.Errorf("regex: %w", err)
	}
	r.pattern = p
	return nil
}

func (r *Rule) accepts(result string) bool {
	switch {
	case r.Any:
		return true
	case r.Exact != nil:
		return result == *r.Exact
	default:
		return r.pattern.MatchString(result)
	}
}

func (r *Rule) String() string {
	switch {
	case r.Any:
		return "anything"
	case r.Exact != nil:
		return fmt.Sprintf("%q", clip(*r.Exact, 0))
	default:
		return "a match of " + clip(*r.Regex, 0)
	}
}

// checkEvents holds events to the contract of a provider's stream.
func checkEvents(events []Played) error {
	calls := 0
	total := time.Duration(0)
	for i, e := range events {
		fail := func(format string, args ...any) error {
			return fmt.Errorf("event %d: %w", i+1, fmt.Errorf(format, args...))
		}
		delay := time.Duration(e.DelayMS) * time.Millisecond
		total += delay
		switch {
		case !one(e.Text != "", e.Reasoning != "", e.Call != nil, e.Usage != nil, e.Finish != nil):
			return fail("write exactly one of text, reasoning, call, usage and finish")
		case e.DelayMS < 0 || delay > maxDelay:
			return fail("delay_ms must be from 0 to %d", maxDelay.Milliseconds())
		case total > maxStepDelay:
			return fail("the delays of a step add up to more than %s", maxStepDelay)
		case (e.Finish != nil) != (i == len(events)-1):
			return fail("a step ends with its one finish")
		case e.Call != nil:
			if err := checkCall(*e.Call, &calls); err != nil {
				return fail("%w", err)
			}
		case e.Finish != nil:
			if err := checkFinish(*e.Finish, calls); err != nil {
				return fail("%w", err)
			}
		}
	}
	if len(events) == 0 {
		return errors.New("events: there are none")
	}
	return nil
}

func checkCall(d sdk.CallDelta, calls *int) error {
	switch {
	case d.Index < 0 || d.Index > *calls:
		return fmt.Errorf("the call's index is %d; the next new one is %d", d.Index, *calls)
	case d.Index == *calls && (d.ID == "" || d.Tool == ""):
		return errors.New("the first piece of a call has an id and a tool")
	case d.Index == *calls:
		*calls++
	case d.ID != "" || d.Tool != "":
		return errors.New("only the first piece of a call has an id and a tool")
	}
	return nil
}

func checkFinish(f sdk.Finish, calls int) error {
	switch f.Reason {
	case "length", "filter":
		return nil
	case "calls": // a model may say so and make none: the loop fails then
		return nil
	case "stop":
		if calls > 0 {
			return fmt.Errorf("finish is %q and the step makes %d calls", f.Reason, calls)
		}
		return nil
	}
	return fmt.Errorf("finish is %q: write stop, calls, length or filter", f.Reason)
}

// one reports whether exactly one of several members is set.
func one(set ...bool) bool {
	first := slices.Index(set, true)
	return first >= 0 && !slices.Contains(set[first+1:], true)
}
