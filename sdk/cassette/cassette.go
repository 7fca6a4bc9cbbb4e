// Package cassette reads, checks and compares recorded conversations with a model, and
// makes the steps of a new one. The format is described in plugins/replay/README.md.
package cassette

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// Format is the version of the format that this package reads and writes.
const Format = 1

// MaxBytes is the most that a cassette may have.
const MaxBytes = 64 << 20

// Bounds of the delays, which make streaming visible; they are no way to wait.
const (
	maxDelay     = 2 * time.Second
	maxStepDelay = 20 * time.Second
)

// Cassette is a recorded conversation with a model. Read checks it; one that was put
// together by hand is not checked.
type Cassette struct {
	Format      int    `json:"format"`
	Model       string `json:"model"` // by which it is chosen
	Description string `json:"description,omitempty"`
	Context     int    `json:"context,omitempty"` // of the model, in tokens; 0 is unknown
	Steps       []Step `json:"steps"`
}

// Step is one completion: what is new in its request, and what the model did.
type Step struct {
	Request []Expected `json:"request"`
	Events  []Played   `json:"events"`
	Context int        `json:"context,omitempty"` // of the model, where another one answers than before
	// Children are the conversations of other agents that calls of the step began, in the order of the calls.
	Children []Child `json:"children,omitempty"`
}

// Expected is a message of a request: the text of a user, or a tool's result with the
// rule that it must satisfy. What the model itself said is not repeated; it follows from
// the events of the steps before.
type Expected struct {
	Role   sdk.Role `json:"role"`
	Text   *Text    `json:"text,omitempty"`
	Tool   string   `json:"tool,omitempty"`
	Result *Rule    `json:"result,omitempty"`
}

// rule is what the message must satisfy.
func (e *Expected) rule() *Rule {
	if e.Text != nil {
		return &e.Text.Rule
	}
	return e.Result
}

// Rule says what a text must be, a tool's result or a user's: one of Exact, Regex and Any is set. A pattern
// works only in a cassette that Read returned.
type Rule struct {
	Exact *string `json:"exact,omitempty"`
	Regex *string `json:"regex,omitempty"`
	Any   bool    `json:"any,omitempty"`
	// Recorded goes with Any and Regex: what the text was. It is compared where all texts are;
	// see Strict.
	Recorded *string `json:"recorded,omitempty"`

	pattern *regexp.Regexp
}

// Played is one delta, after a pause.
type Played struct {
	sdk.Delta
	DelayMS int `json:"delay_ms,omitempty"`
}

// Read reads and checks a cassette. Errors name the step and event, or the line where
// the JSON is broken, and no file.
func Read(r io.Reader) (*Cassette, error) {
	raw, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > MaxBytes {
		return nil, fmt.Errorf("it is larger than %d MiB", MaxBytes>>20)
	}
	var c Cassette
	if err := sdk.ReadJSON(raw, &c); err != nil {
		return nil, located(raw, err)
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	return &c, nil
}

func located(raw []byte, err error) error {
	at := len(raw)
	var fault *sdk.JSONFault
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &fault):
		at = fault.Offset
	case errors.As(err, &kind):
		at = int(kind.Offset)
	}
	before := raw[:min(max(at, 0), len(raw))]
	return fmt.Errorf("line %d: %w", bytes.Count(before, []byte("\n"))+1, err)
}

// ContextAt is the context of the model that step n has, counted from 0: what a
// conversation has to say may depend on it.
func (c *Cassette) ContextAt(n int) int {
	context := c.Context
	for _, s := range c.Steps[:min(n+1, len(c.Steps))] {
		context = cmp.Or(s.Context, context)
	}
	return context
}

// Strict makes the results of all tools and the texts of users count as they were recorded, also those of which any
// will do, in the conversations of children too. It is an error when the cassette does not have one of them.
func (c *Cassette) Strict() error {
	for i, s := range c.Steps {
		for j, e := range s.Request {
			r, what := e.rule(), "the result of "+e.Tool
			if e.Role == sdk.RoleUser {
				what = "the user's text"
			}
			switch {
			case r == nil || r.Exact != nil || r.Regex != nil && r.Recorded == nil:
			case r.Recorded == nil:
				return fmt.Errorf("step %d, request message %d: the cassette does not have %s, and without it not all can be compared", i+1, j+1, what)
			default:
				r.Exact, r.Recorded, r.Regex, r.Any = r.Recorded, nil, nil, false
			}
		}
		if err := s.eachChild((*Cassette).Strict); err != nil {
			return fmt.Errorf("step %d, %w", i+1, err)
		}
	}
	return nil
}

// said is the assistant message that a step's events make.
func (s Step) said() sdk.Message {
	var text strings.Builder
	var arguments []*strings.Builder
	m := sdk.Message{Role: sdk.RoleAssistant}
	for _, e := range s.Events {
		text.WriteString(e.Text)
		if c := e.Call; c != nil {
			if c.Index == len(m.Calls) {
				m.Calls = append(m.Calls, sdk.Call{ID: c.ID, Tool: c.Tool})
				arguments = append(arguments, &strings.Builder{})
			}
			arguments[c.Index].WriteString(c.Arguments)
		}
	}
	m.Text = text.String()
	for i := range m.Calls {
		m.Calls[i].Arguments = arguments[i].String()
	}
	return m
}
