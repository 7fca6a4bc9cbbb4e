package match

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrEmptySearch is the refusal of an edit that names no text: an empty search,
// or one of nothing but white space, fits everywhere.
var ErrEmptySearch = errors.New("there is nothing to search for: give the text to replace, with enough of its surroundings to be found once")

// shownLines is how many line numbers a ConflictError spells out; Lines has all.
const shownLines = 50

// ConflictError says that a search fits in several places. Lines holds the
// 1-based line on which each begins, ascending, each line once.
type ConflictError struct {
	Lines   []int
	Matches int // how many places; more than len(Lines) when a line has several
}

func (e *ConflictError) Error() string {
	if len(e.Lines) == 1 {
		return fmt.Sprintf("the text is found %d times on line %d; nothing was changed: give more of the surroundings, so that it fits one place", e.Matches, e.Lines[0])
	}
	return fmt.Sprintf("the text is found in %d places, on lines %s; nothing was changed: give more of the surroundings, so that it fits one place", e.Matches, listLines(e.Lines))
}

// NotFoundError says that a search fits nowhere, and which place comes closest.
type NotFoundError struct {
	Line int    // 1-based line of the closest place; 0 when nothing is like it
	Text string // that line as it is, shortened, without its indentation
	Want string // the line of the search that differs from it, likewise
}

func (e *NotFoundError) Error() string {
	if e.Line == 0 {
		return "the text is not found and no line is like it; nothing was changed: read the file again and copy the text from it"
	}
	if e.Want == "" {
		return fmt.Sprintf("the text is not found; it is cut short at line %d, where the file ends; nothing was changed: read the file again from there", e.Line)
	}
	return fmt.Sprintf("the text is not found; the closest place is line %d, which has %q where %q was searched for; nothing was changed: read the file around there and copy the text from it", e.Line, e.Text, e.Want)
}

// listLines writes "1, 2 and 3".
func listLines(lines []int) string {
	shown := lines
	if len(shown) > shownLines {
		shown = shown[:shownLines]
	}
	words := make([]string, len(shown))
	for i, n := range shown {
		words[i] = strconv.Itoa(n)
	}
	if more := len(lines) - len(shown); more > 0 {
		return strings.Join(words, ", ") + fmt.Sprintf(" and %d more", more)
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// clip shortens s to at most n bytes of valid UTF-8, and says so with an ellipsis.
func clip(s string, n int) string {
	if len(s) <= n {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
