package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// Format is the version of the cassette format that this plugin reads. It is
// described in this plugin's README.
const Format = 1

// Bounds of a cassette. Delays make streaming visible; they are no way to wait.
const (
	maxCassette  = 4 << 20
	maxDelay     = 2 * time.Second
	maxStepDelay = 20 * time.Second
)

// cassette is a recorded conversation with a model.
type cassette struct {
	Format      int    `json:"format"`
	Model       string `json:"model"`
	Description string `json:"description,omitempty"`
	Context     int    `json:"context,omitempty"`
	Steps       []step `json:"steps"`
}

// step is one completion: what is new in its request, and what the model did.
type step struct {
	Request []expected `json:"request"`
	Events  []played   `json:"events"`
}

// expected is a message of a request: the text of a user, or a tool's result
// with the rule it must satisfy. What the model itself said is not repeated
// here; it follows from the events of the steps before.
type expected struct {
	Role   sdk.Role `json:"role"`
	Text   *string  `json:"text,omitempty"`
	Tool   string   `json:"tool,omitempty"`
	Result *rule    `json:"result,omitempty"`
}

// rule says what a tool's result must be: one of its fields is set.
type rule struct {
	Exact *string `json:"exact,omitempty"`
	Regex *string `json:"regex,omitempty"`
	Any   bool    `json:"any,omitempty"`

	pattern *regexp.Regexp
}

// played is one delta, after a pause.
type played struct {
	sdk.Delta
	DelayMS int `json:"delay_ms,omitempty"`
}

// readCassette reads and checks a cassette. Errors name the step and event, or
// the line where the JSON is broken.
func readCassette(r io.Reader) (*cassette, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxCassette+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxCassette {
		return nil, fmt.Errorf("it is larger than %d MiB", maxCassette>>20)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	var c cassette
	if err := d.Decode(&c); err != nil {
		return nil, located(raw, d.InputOffset(), err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, located(raw, d.InputOffset(), errors.New("something follows the end of the cassette"))
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	return &c, nil
}

func located(raw []byte, offset int64, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	}
	before := raw[:min(max(offset, 0), int64(len(raw)))]
	return fmt.Errorf("line %d: %w", bytes.Count(before, []byte("\n"))+1, err)
}

func (c *cassette) check() error {
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
		if err := checkRequest(s.Request, before, i == 0); err != nil {
			return fmt.Errorf("step %d, %w", i+1, err)
		}
		if err := checkEvents(s.Events); err != nil {
			return fmt.Errorf("step %d, %w", i+1, err)
		}
		before = s.said().Calls
	}
	return nil
}

// checkRequest holds a step to what a conversation can be: the results of the
// calls before it, in their order, then what the user says.
func checkRequest(request []expected, calls []sdk.Call, first bool) error {
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
		}
	}
	if len(request) < len(calls) {
		return fmt.Errorf("request: the step before made %d calls and here are %d results", len(calls), len(request))
	}
	if len(request) == 0 {
		return errors.New("request: there is no message")
	}
	if first && request[0].Role != sdk.RoleUser {
		return errors.New("request: a conversation begins with the user")
	}
	return nil
}

func (r *rule) compile() error {
	if !one(r.Exact != nil, r.Regex != nil, r.Any) {
		return errors.New("write one of exact, regex and any")
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

func (r *rule) accepts(result string) bool {
	switch {
	case r.Any:
		return true
	case r.Exact != nil:
		return result == *r.Exact
	default:
		return r.pattern.MatchString(result)
	}
}

func (r *rule) String() string {
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
func checkEvents(events []played) error {
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
	case "stop", "calls":
		if (f.Reason == "calls") != (calls > 0) {
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

// said is the assistant message that a step's events make.
func (s step) said() sdk.Message {
	m := sdk.Message{Role: sdk.RoleAssistant}
	for _, e := range s.Events {
		m.Text += e.Text
		if c := e.Call; c != nil {
			if c.Index == len(m.Calls) {
				m.Calls = append(m.Calls, sdk.Call{ID: c.ID, Tool: c.Tool})
			}
			m.Calls[c.Index].Arguments += c.Arguments
		}
	}
	return m
}
