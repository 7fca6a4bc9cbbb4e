package match

import "github.com/bothyd/bothy/sdk"

// maxSteps is what one question may cost. A step is sixteen bytes looked at by one
// part of a glob, or by one instruction of a regular expression each; a move in an
// XML document; or a sixteenth of a value that a JSONPath can come to. The slowest
// take about a tenth of a microsecond.
const maxSteps = 1 << 25

// maxDocument bounds a text that is read as JSON or XML, in bytes.
const maxDocument = 4 << 20

// maxBudget is what a question of many texts may cost, as of all paths of a store or of all bodies.
const maxBudget = 4 * maxSteps

// Budget is what patterns may cost of many texts together, where one text alone is bounded by Match and Search
// as well. It is for one goroutine; its zero value has nothing left.
type Budget struct{ left int }

// NewBudget is the one of a question of many texts.
func NewBudget() *Budget { return &Budget{left: maxBudget} }

// Within is the pattern for one text after the other, which take from the same budget.
func (p Pattern) Within(b *Budget) Counted { return Counted{p, b} }

// Counted is a pattern with the budget of all that it is asked of. Its methods are those of Pattern, and fail
// with overflow as well where the budget is used up.
type Counted struct {
	pattern Pattern
	budget  *Budget
}

// Kind tells how the pattern is read.
func (c Counted) Kind() Kind { return c.pattern.Kind() }

// Match is Pattern.Match.
func (c Counted) Match(text string) (bool, error) { return c.ask(text, c.pattern.match) }

// Search is Pattern.Search.
func (c Counted) Search(text string) (bool, error) { return c.ask(text, c.pattern.search) }

func (c Counted) ask(text string, of func(string, *meter) (bool, error)) (bool, error) {
	m := &meter{left: min(maxSteps, c.budget.left)}
	before := m.left
	m.spend(1 + len(text)/1024) // nothing is for nothing where there are thousands
	found, err := of(text, m)
	if !m.over() {
		c.budget.left -= before - m.left
		return found, err
	}
	if before == maxSteps {
		c.budget.left -= maxSteps
		return false, err
	}
	c.budget.left = 0
	return false, sdk.Errorf(sdk.Overflow, "the pattern %q takes too many steps on all that it is asked of together: narrow that, or write the pattern more simply", clip(c.pattern.text, 80))
}

// meter counts the steps of one text.
type meter struct{ left int }

func newMeter() *meter { return &meter{left: maxSteps} }

// spend takes steps, of which there may be more than are left, and tells whether
// the question may go on.
func (m *meter) spend(steps int) bool {
	if steps < 0 || steps > m.left {
		m.left = -1
		return false
	}
	m.left -= steps
	return true
}

// tooMuch is what a meter throws through a library that cannot be told to stop.
type tooMuch struct{}

// take is spend for what is called by such a library.
func (m *meter) take(steps int) {
	if !m.spend(steps) {
		panic(tooMuch{})
	}
}

func (m *meter) over() bool { return m.left < 0 }
