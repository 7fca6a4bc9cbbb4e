package cassette

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/bothyd/bothy/sdk"
)

// NewStep makes the step of a completion that has come whole, of which fresh is what was
// new in the request (Fresh). The result of a tool is
// compared exactly when exact says so of the name in its message, else any will do and
// what it was is kept beside. Reasoning is kept, and what belongs to the provider is not:
// costs, ids of its own, and when each piece came.
func NewStep(fresh []sdk.Message, c sdk.Completion, exact func(tool string) bool) Step {
	s := Step{Request: []Expected{}}
	for _, m := range fresh {
		e, text := Expected{Role: m.Role}, m.Text
		switch {
		case m.Role != sdk.RoleTool:
			e.Text = Says(text)
		case exact(m.Tool):
			e.Tool, e.Result = m.Tool, &Rule{Exact: &text}
		default:
			e.Tool, e.Result = m.Tool, &Rule{Any: true, Recorded: &text}
		}
		s.Request = append(s.Request, e)
	}
	play := func(d sdk.Delta) { s.Events = append(s.Events, Played{Delta: d}) }
	if c.Reasoning != "" {
		play(sdk.Delta{Reasoning: c.Reasoning})
	}
	if c.Text != "" {
		play(sdk.Delta{Text: c.Text})
	}
	for i, call := range c.Calls {
		d := sdk.CallDelta{Index: i, ID: call.ID, Tool: call.Tool, Arguments: call.Arguments}
		if d.ID == "" {
			d.ID = fmt.Sprintf("call_%d", i+1)
		}
		if d.Tool == "" {
			d.Tool = "unknown"
		}
		play(sdk.Delta{Call: &d})
	}
	if c.Usage != nil {
		u := *c.Usage
		u.Cost, u.Estimated = nil, false // playing it costs nothing
		play(sdk.Delta{Usage: &u})
	}
	play(sdk.Delta{Finish: &sdk.Finish{Reason: finish(c)}})
	return s
}

// finish is why a completion ended, in the words of the format.
func finish(c sdk.Completion) string {
	switch {
	case c.Finish == "length" || c.Finish == "filter":
		return c.Finish
	case len(c.Calls) > 0 || c.Finish == "calls":
		return "calls"
	}
	return "stop"
}

// Encode writes the cassette of steps, checked, as Read takes it. A step's results are
// named by the calls of the step before.
func (c Cassette) Encode() ([]byte, error) {
	c.Format = Format
	var calls []sdk.Call
	for i, s := range c.Steps {
		for j := range s.Request[:min(len(calls), len(s.Request))] {
			if e := &s.Request[j]; e.Role == sdk.RoleTool {
				e.Tool = calls[j].Tool
			}
		}
		calls = c.Steps[i].said().Calls
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(c); err != nil {
		return nil, err
	}
	if b.Len() > MaxBytes {
		return nil, fmt.Errorf("it is larger than %d MiB", MaxBytes>>20)
	}
	return b.Bytes(), nil
}
