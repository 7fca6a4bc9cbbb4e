package match

import (
	"errors"
	"strings"
)

// Replacement is what Replace did.
type Replacement struct {
	Body       string // the whole new body
	Line       int    // 1-based line of Body on which the replaced place begins
	Reindented bool   // found by comparing lines without their white space; worth a warning
}

// Replace puts replacement in the one place of body that search names.
//
// The exact text is looked for first, anywhere in a line. When it is nowhere,
// whole lines are compared without the white space around them, blank lines
// skipped, and the replacement gets the indentation of the place. Line endings
// never count: what is written takes those of the place, so a CRLF file stays
// one, and a body that ended in a line ending still does. Nothing in search or
// replacement is interpreted.
//
// The error is ErrEmptySearch, a *ConflictError or a *NotFoundError, or has the
// outcome overflow where the indentation of the place makes too much of replacement.
func Replace(body, search, replacement string) (Replacement, error) {
	text := newUnixText(body)
	place, err := text.find(search)
	if err != nil {
		return Replacement{}, err
	}
	if place.exact {
		return text.splice(place.start, place.end, replacement, false), nil
	}
	replacement = strings.ReplaceAll(replacement, "\r\n", "\n")
	replacement, end, err := place.fit(replacement, text.unix)
	if err != nil {
		return Replacement{}, err
	}
	return text.splice(place.start, end, replacement, true), nil
}

// Delete takes the one place of body that search names, found as Replace finds it, out
// of the body. Where that leaves nothing but white space on its lines, they go whole.
//
// The error is ErrEmptySearch, a *ConflictError or a *NotFoundError.
func Delete(body, search string) (Replacement, error) {
	text := newUnixText(body)
	place, err := text.find(search)
	if err != nil {
		return Replacement{}, err
	}
	start, end := wholeLines(text.unix, place.start, place.end)
	return text.splice(start, end, "", !place.exact), nil
}

// find is the only place of the text that search names: exactly, else by its lines.
func (t *unixText) find(search string) (lineMatch, error) {
	if strings.Trim(search, space) == "" {
		return lineMatch{}, ErrEmptySearch
	}
	search = strings.ReplaceAll(search, "\r\n", "\n")
	start, end, err := findExact(t.unix, search)
	if err == nil {
		return lineMatch{start: start, end: end, exact: true}, nil
	}
	var conflict *ConflictError
	if errors.As(err, &conflict) {
		return lineMatch{}, err
	}
	return findLines(t.unix, search)
}

// wholeLines widens a place to the lines that it is all of but white space, one line
// ending with them. A place that begins or ends with a line ending says itself how far
// it goes.
func wholeLines(text string, start, end int) (int, int) {
	if text[start] == '\n' || text[end-1] == '\n' {
		return start, end
	}
	before := len(strings.TrimRight(text[:start], " \t"))
	behind := len(text) - len(strings.TrimLeft(text[end:], " \t"))
	switch {
	case before > 0 && text[before-1] != '\n', behind < len(text) && text[behind] != '\n':
		return start, end
	case behind < len(text):
		return before, behind + 1
	case before > 0:
		return before - 1, behind
	default:
		return before, behind
	}
}

// findExact returns the byte range of the only occurrence of search.
func findExact(body, search string) (start, end int, err error) {
	start = strings.Index(body, search)
	if start < 0 {
		return 0, 0, &NotFoundError{}
	}
	if strings.Contains(body[start+1:], search) {
		return 0, 0, conflictAt(body, search)
	}
	return start, start + len(search), nil
}

// conflictAt names every line on which search begins, overlapping ones too. A
// search that begins with line endings is said to begin where its text does.
func conflictAt(body, search string) *ConflictError {
	lead := len(search) - len(strings.TrimLeft(search, "\n"))
	conflict := &ConflictError{}
	line, counted := 1, 0
	occurrences([]byte(body), []byte(search), func(at int) {
		conflict.Matches++
		line += strings.Count(body[counted:at+lead], "\n")
		counted = at + lead
		if n := len(conflict.Lines); n == 0 || conflict.Lines[n-1] != line {
			conflict.Lines = append(conflict.Lines, line)
		}
	})
	return conflict
}

// occurrences calls found with each index at which want begins in text. It is
// Knuth, Morris and Pratt's search: linear also where every place nearly fits.
// It returns the longest beginning of want that fits anywhere and the index in
// text behind it.
func occurrences[T comparable](text, want []T, found func(at int)) (longest, behind int) {
	fallback := make([]int, len(want)+1)
	for i, k := 1, 0; i < len(want); i++ {
		for k > 0 && want[i] != want[k] {
			k = fallback[k]
		}
		if want[i] == want[k] {
			k++
		}
		fallback[i+1] = k
	}
	for i, k := 0, 0; i < len(text); i++ {
		for k > 0 && text[i] != want[k] {
			k = fallback[k]
		}
		if text[i] == want[k] {
			k++
		}
		if k > longest {
			longest, behind = k, i+1
		}
		if k == len(want) {
			found(i + 1 - k)
			k = fallback[k]
		}
	}
	return longest, behind
}
