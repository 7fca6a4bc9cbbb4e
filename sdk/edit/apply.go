package edit

import (
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// mostRead bounds what the operations of one edit read of the body, in bytes, all of
// them together: each may have to look through all of it.
const mostRead = 64 << 20

// Result is what an edit made of a body.
type Result struct {
	Body     string
	Warnings []Warning
}

// Marked reports whether there are regions. An edit without is the text as it was written.
func (e Edit) Marked() bool { return len(e.ops) > 0 }

// Foreign reports whether it is without regions and in the form in which another program edits: it is refused where a text
// is, and is the text where there is none.
func (e Edit) Foreign() bool { return !e.Marked() && foreign(e.text) != "" }

// Whole reports whether what there was before counts for nothing, so that Apply comes to the same on every body.
func (e Edit) Whole() bool {
	if e.Marked() {
		return e.ops[0].whole()
	}
	return foreign(e.text) == ""
}

// Apply makes the operations on a body, one on what the one before left; "" is that of
// an entry that is not there. An error is a conflict where a text is nowhere or in several
// places, and validation where there is nothing to look for; then the body stays as it
// is, and nothing is to be written.
func (e Edit) Apply(body string) (Result, error) {
	if len(e.ops) == 0 {
		return e.wholly(body)
	}
	r := Result{Body: body, Warnings: e.warnings[:len(e.warnings):len(e.warnings)]}
	read := 0
	for i, op := range e.ops {
		if !op.whole() {
			read += len(r.Body)
		}
		if read > mostRead {
			return Result{}, sdk.Errorf(sdk.Overflow, "%d operations on a text of %d bytes are too much for one call; nothing was changed: make some of them in a call of their own, or write the whole text with <<NEW", len(e.ops), len(body))
		}
		after, reindented, err := op.apply(r.Body)
		if err != nil {
			return Result{}, e.refused(err, i, r.Body)
		}
		if reindented {
			r.Warnings = append(r.Warnings, Warning{Reindented, op.name() + " was found by its lines, whatever their indentation, and what takes the place was given that of the place: check the result"})
		}
		r.Body = after
	}
	if r.Body == body && read > 0 {
		r.Warnings = append(r.Warnings, Warning{Unchanged, "the text is the same as before: the edit changes nothing"})
	}
	return r, nil
}

// wholly is Apply of a text without regions, which takes the place of the body.
func (e Edit) wholly(body string) (Result, error) {
	if strings.TrimSpace(e.text) == "" {
		return Result{}, sdk.Errorf(sdk.Validation, "there is nothing to write, and nothing was changed: write the new text, or <<REPLACE and REPLACE with nothing between them to empty what is there")
	}
	if form := foreign(e.text); form != "" && body != "" {
		return Result{}, sdk.Errorf(sdk.Validation, "%s changes nothing here, and would take the place of all there is; nothing was changed. An edit is written as\n%s\nand a text that is meant as it stands between <<NEW and NEW", form, example)
	}
	return Result{Body: e.text, Warnings: e.warnings}, nil
}

// example is how an edit is written.
const example = `<<SEARCH
the lines as they are
SEARCH
<<REPLACE
the lines as they are to be
REPLACE`

// refused says of an operation that failed which text it met.
func (e Edit) refused(err error, i int, body string) error {
	outcome := sdk.OutcomeOf(err)
	switch {
	case outcome == sdk.Conflict && body == "":
		return sdk.Errorf(outcome, "%w (there is no text yet: <<NEW writes one)", err)
	case outcome == sdk.Conflict && i > 0:
		return sdk.Errorf(outcome, "%w (in the text as the operations before it leave it)", err)
	default:
		return err
	}
}
