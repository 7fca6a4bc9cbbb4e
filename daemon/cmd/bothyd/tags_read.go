package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/daemon/internal/dialect/tags"
)

type tagsReadCmd struct{ verbs.TagsRead }

// readAnswer is what an answer says, as it is printed. Its lists are never null.
type readAnswer struct {
	Calls     []readCall     `json:"calls"`
	Warnings  []tags.Warning `json:"warnings"`
	Narration string         `json:"narration"`
}

// readCall is one call. Attributes are all arguments but the body; one that the tool cannot do without is
// there also where it is the body.
type readCall struct {
	Tool       string         `json:"tool"`
	Attributes map[string]any `json:"attributes"`
	Body       string         `json:"body"`
	Fault      string         `json:"fault,omitempty"` // why the call cannot be made
}

// Run exits with 0 whatever the answer is.
func (tagsReadCmd) Run(c *console) error {
	answer, err := standardInput(c, "the answer")
	if err != nil {
		return err
	}
	twelve := tags.NewSet(tags.Twelve())
	found := tags.Read(twelve, answer)
	out := readAnswer{Calls: make([]readCall, len(found.Calls)), Warnings: append([]tags.Warning{}, found.Warnings...), Narration: found.Narration}
	for i, call := range found.Calls {
		out.Calls[i] = shownCall(twelve, call)
	}
	return report(c, out, nil, printAnswer)
}

func shownCall(set *tags.Set, call tags.Call) readCall {
	shown := readCall{Tool: call.Tool, Attributes: make(map[string]any, len(call.Arguments)), Body: call.Body, Fault: call.Fault}
	for _, a := range call.Arguments {
		shown.Attributes[a.Name] = a.Value
	}
	if call.Into != "" && set.Requires(call.Tool, call.Into) {
		shown.Attributes[call.Into] = call.Body
	}
	return shown
}

func printAnswer(c *console, out readAnswer) error {
	for _, w := range out.Warnings {
		c.say("%s", oneLine(w.Message))
	}
	for _, call := range out.Calls {
		line := call.Tool
		for _, name := range slices.Sorted(maps.Keys(call.Attributes)) {
			line += fmt.Sprintf(" %s=%v", name, call.Attributes[name])
		}
		if call.Fault != "" {
			line += ": " + call.Fault
		}
		if _, err := fmt.Fprintln(c.out, oneLine(line)); err != nil {
			return err
		}
	}
	return nil
}
