package edit

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
)

// keyword is what a region does, by how its word begins; what follows is its suffix.
type keyword string

const (
	create  keyword = "NEW" // as REPLACE: the name says what the model means
	prepend keyword = "PREPEND"
	add     keyword = "APPEND"
	replace keyword = "REPLACE" // of all; behind SEARCH, of what that found
	remove  keyword = "DELETE"
	search  keyword = "SEARCH"
)

// keywordOf is the operation of a word. One that no keyword begins, as EOF, replaces.
func keywordOf(ident string) (_ keyword, named bool) {
	for _, k := range []keyword{create, prepend, add, replace, remove, search} {
		if strings.HasPrefix(ident, string(k)) {
			return k, true
		}
	}
	return replace, false
}

// operation is what one region does with a body, or SEARCH with the REPLACE behind it.
type operation struct {
	keyword keyword
	ident   string // of its marker
	line    int    // on which that stands
	text    string
	with    string // of SEARCH: what takes the place
}

// name is what messages call the operation.
func (op operation) name() string { return placed(op.ident, op.line) }

// whole reports whether the body that was before counts for nothing.
func (op operation) whole() bool { return op.keyword == create || op.keyword == replace }

// apply is the body that op makes, and whether its place was found by lines alone. A byte order mark stays where it is: the
// text begins behind it.
func (op operation) apply(body string) (after string, reindented bool, err error) {
	text, marked := strings.CutPrefix(body, orderMark)
	if op.whole() || !marked {
		return op.make(body)
	}
	op.text, op.with = strings.TrimPrefix(op.text, orderMark), strings.TrimPrefix(op.with, orderMark)
	after, reindented, err = op.make(text)
	return orderMark + after, reindented, err
}

// orderMark is how some programs begin a file in UTF-8; no reader shows it.
const orderMark = "\uFEFF"

func (op operation) make(body string) (after string, reindented bool, err error) {
	switch op.keyword {
	case prepend:
		return prepended(body, op.text), false, nil
	case add:
		return appended(body, op.text), false, nil
	case remove:
		return op.found(match.Delete(body, op.text))
	case search:
		return op.exchange(body)
	default:
		return op.text, false, nil
	}
}

// exchange puts what REPLACE has in the place of what SEARCH has.
func (op operation) exchange(body string) (after string, reindented bool, err error) {
	if op.text == "" || op.with == "" {
		return op.found(match.Delete(body, op.text))
	}
	with, changed := indented(body, op.text, op.with)
	after, reindented, err = op.found(match.Replace(body, op.text, with))
	return after, reindented || changed && err == nil, err
}

// found gives what match says the outcome that it is to the model.
func (op operation) found(r match.Replacement, err error) (string, bool, error) {
	var e *sdk.Error
	switch {
	case err == nil:
		return r.Body, r.Reindented, nil
	case errors.Is(err, match.ErrEmptySearch):
		err = sdk.Errorf(sdk.Validation, "%s: %w", op.name(), err)
	case errors.As(err, &e):
		err = sdk.Errorf(e.Outcome, "%s: %w", op.name(), err)
	default:
		err = sdk.Errorf(sdk.Conflict, "%s: %w", op.name(), err)
	}
	return "", false, err
}

// appended puts text behind a body, on lines of its own. It has the line endings of the
// body's end, and a body that ended in one still does.
func appended(body, text string) string {
	if body == "" || text == "" {
		return body + text
	}
	ending := endingAt(body, strings.LastIndexByte(body, '\n'))
	text = withEnding(text, ending)
	if !strings.HasSuffix(body, "\n") {
		return body + ending + text
	}
	return body + ended(text, ending)
}

// prepended puts text before a body, on lines of its own and with its line endings.
func prepended(body, text string) string {
	if body == "" || text == "" {
		return text + body
	}
	ending := endingAt(body, strings.IndexByte(body, '\n'))
	return ended(withEnding(text, ending), ending) + body
}

// endingAt is the line ending at a line feed of body, or "\n" where there is none.
func endingAt(body string, feed int) string {
	if feed > 0 && body[feed-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

func withEnding(text, ending string) string {
	if ending == "\n" {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, ending, "\n"), "\n", ending)
}

// ended ends the last line of text.
func ended(text, ending string) string {
	if strings.HasSuffix(text, "\n") {
		return text
	}
	return text + ending
}

// placed names an operation by its marker and the line of the text that has it.
func placed(ident string, line int) string { return fmt.Sprintf("%s%s on line %d", opens, ident, line) }
