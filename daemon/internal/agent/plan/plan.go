package plan

import (
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Plan is what a person wants done, as their file says it.
type Plan struct {
	Goal        string // the name of a plan of steps, which says what it is for
	Description string
	Context     string // lines that the whole of it is to be seen with
	Steps       []Step
}

// Step is one instruction of a plan.
type Step struct {
	Name    string // empty where the plan is a goal with instructions
	Action  string
	Context string // what belongs to the step: files, a piece of code
}

// Text is the step as its entry has it.
func (s Step) Text() string {
	text := s.Action
	if s.Name != "" {
		text = s.Name + ": " + text
	}
	if s.Context != "" {
		text += "\n\n" + s.Context
	}
	return text
}

// Range is which steps are asked for, the first and the last one included; 0 is the plan's own.
type Range struct{ From, Until int }

// Has reports whether a step is asked for.
func (r Range) Has(number int) bool {
	return number >= r.From && (r.Until == 0 || number <= r.Until)
}

// Check refuses a range that asks for no step of a plan.
func (r Range) Check(p Plan) error {
	switch n := len(p.Steps); {
	case r.From < 0 || r.Until < 0 || r.From > n || r.Until > n:
		return sdk.Errorf(sdk.Validation, "the plan has the steps 1 to %d: the first and the last one that are asked for are two of those", n)
	case r.Until != 0 && r.Until < r.From:
		return sdk.Errorf(sdk.Validation, "no step is asked for: the last one, %d, comes before the first one, %d", r.Until, r.From)
	}
	return nil
}

// Prompt is what the model is asked to do. The steps that are not asked for stand in it, so that it knows what comes
// before and behind its own.
func (p Plan) Prompt(r Range) string {
	var b strings.Builder
	fmt.Fprintf(&b, "You are assisting with the following task:\n\nGOAL: %s\n", p.Goal)
	if p.Description != "" {
		fmt.Fprintf(&b, "\nDESCRIPTION: %s\n", p.Description)
	}
	if p.Context != "" {
		fmt.Fprintf(&b, "\nCONTEXT:\n%s\n", p.Context)
	}
	b.WriteString("\nINSTRUCTIONS (follow as guidance):\n")
	some := false
	for i, s := range p.Steps {
		number := fmt.Sprintf("%d. ", i+1)
		if !r.Has(i + 1) {
			some = true
			number += "(not asked for) "
		}
		b.WriteString(number + s.instruction() + "\n")
	}
	b.WriteString("\nUse the available tools to accomplish this goal. You may adapt your approach as needed, but try to follow the instructions provided.")
	if some {
		b.WriteString(" Leave alone what is not asked for.")
	}
	return b.String()
}

// instruction is the step behind its number, all lines but the first one below it.
func (s Step) instruction() string {
	text := s.Action
	if s.Name != "" {
		text = s.Name + ": " + text
	}
	if s.Context != "" {
		text += "\nContext:\n" + s.Context
	}
	const below = "   "
	lines := strings.Split(text, "\n")
	for i, line := range lines[1:] {
		if line != "" {
			lines[i+1] = below + line
		}
	}
	return strings.Join(lines, "\n")
}
