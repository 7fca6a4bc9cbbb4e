package conformance

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// Deltas puts the pieces of one completion together and holds them to the contract
// of sdk.Delta: one field each, text that is UTF-8, calls that are numbered from 0
// up and begin with a tool and an id of their own, and a finish at the end. Its zero
// value is ready.
type Deltas struct {
	Completion sdk.Completion // what came so far

	finished bool
	ids      map[string]bool
	wrong    error
}

// Add takes the next piece. It never fails: Wrong and End say what was wrong.
func (o *Deltas) Add(d sdk.Delta) error {
	if o.finished {
		o.say("a piece came behind the finish: %+v", d)
	}
	if n := fieldsOf(d); n != 1 {
		o.say("a piece has %d fields, and must have one: %+v", n, d)
	}
	if !utf8.ValidString(d.Text + d.Reasoning) {
		o.say("a piece has text that is not UTF-8: %q", d.Text+d.Reasoning)
	}
	o.Completion.Text += d.Text
	o.Completion.Reasoning += d.Reasoning
	if d.Call != nil {
		o.call(*d.Call)
	}
	if d.Usage != nil {
		o.Completion.Usage = d.Usage
	}
	if d.Finish != nil {
		o.finished, o.Completion.Finish, o.Completion.Extra = true, d.Finish.Reason, d.Finish.Extra
		if !slices.Contains([]string{"stop", "calls", "length", "filter"}, d.Finish.Reason) {
			o.say("the finish has the unknown reason %q", d.Finish.Reason)
		}
	}
	return nil
}

func fieldsOf(d sdk.Delta) int {
	n := 0
	for _, set := range []bool{d.Text != "", d.Reasoning != "", d.Call != nil, d.Usage != nil, d.Finish != nil} {
		if set {
			n++
		}
	}
	return n
}

func (o *Deltas) call(d sdk.CallDelta) {
	calls := &o.Completion.Calls
	if d.Index < 0 || d.Index > len(*calls) {
		o.say("the calls are not numbered from 0 up: %d comes behind %d calls", d.Index, len(*calls))
		return
	}
	if d.Index == len(*calls) {
		if d.ID == "" || d.Tool == "" || o.ids[d.ID] {
			o.say("the first piece of call %d has no id of its own, or no tool: %+v", d.Index, d)
		}
		if o.ids == nil {
			o.ids = map[string]bool{}
		}
		o.ids[d.ID] = true
		*calls = append(*calls, sdk.Call{ID: d.ID, Tool: d.Tool})
	}
	(*calls)[d.Index].Arguments += d.Arguments
}

// Wrong says what was wrong with the pieces so far, which need not be all; nil when
// nothing was.
func (o *Deltas) Wrong() error { return o.wrong }

// End says what was wrong with a completion that ended well; nil when nothing was.
func (o *Deltas) End() error {
	if !o.finished {
		return errors.Join(o.wrong, errors.New("the completion ended without a finish"))
	}
	return o.wrong
}

func (o *Deltas) say(format string, args ...any) {
	if o.wrong == nil {
		o.wrong = fmt.Errorf(format, args...)
	}
}
