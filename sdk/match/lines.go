package match

import "strings"

// space is what surrounds a line without being part of it.
const space = " \t\r\n\f\v"

// line is one line of a text that is not blank.
type line struct {
	number     int // 1-based, blank lines counted
	start, end int // byte offsets, without the line ending
	indent     string
	trimmed    string
}

// splitLines returns the lines of text that are not blank.
func splitLines(text string) []line {
	lines := make([]line, 0, strings.Count(text, "\n")+1)
	for start, number := 0, 1; start < len(text); number++ {
		end := strings.IndexByte(text[start:], '\n')
		if end < 0 {
			end = len(text)
		} else {
			end += start
		}
		raw := text[start:end]
		if trimmed := strings.Trim(raw, space); trimmed != "" {
			indent := raw[:strings.Index(raw, trimmed[:1])]
			lines = append(lines, line{number, start, end, indent, trimmed})
		}
		start = end + 1
	}
	return lines
}

// lineMatch is a place that was found by its lines, or exactly.
type lineMatch struct {
	start, end int    // byte offsets of the whole lines, without the last line ending; exactly those of the text that was found
	indent     string // of the place, when found by its lines
	from       string // of the search, likewise
	exact      bool
}

// findLines returns the only place whose lines are those of search, white space
// around them and blank lines aside.
func findLines(body, search string) (lineMatch, error) {
	have, want := splitLines(body), splitLines(search)
	number := make(map[string]int32, len(want))
	wantIDs := make([]int32, len(want))
	for i, l := range want {
		id, ok := number[l.trimmed]
		if !ok {
			id = int32(len(number) + 1)
			number[l.trimmed] = id
		}
		wantIDs[i] = id
	}
	haveIDs := make([]int32, len(have))
	for i, l := range have {
		haveIDs[i] = number[l.trimmed]
	}

	var places []int
	longest, behind := occurrences(haveIDs, wantIDs, func(at int) { places = append(places, at) })
	switch len(places) {
	case 0:
		return lineMatch{}, closest(have, want, longest, behind)
	case 1:
		first, last := have[places[0]], have[places[0]+len(want)-1]
		return lineMatch{start: first.start, end: last.end, indent: first.indent, from: want[0].indent}, nil
	}
	conflict := &ConflictError{Matches: len(places)}
	for _, at := range places {
		conflict.Lines = append(conflict.Lines, have[at].number)
	}
	return lineMatch{}, conflict
}

// closest tells what comes nearest to a search that is nowhere: the line behind
// the longest beginning that fits, else the line most like the search's first.
func closest(have, want []line, longest, behind int) *NotFoundError {
	if longest > 0 {
		if behind == len(have) {
			return have[behind-1].closest("")
		}
		return have[behind].closest(want[longest].trimmed)
	}
	best, bestScore := -1, 0.5
	first := squeeze(want[0].trimmed)
	for i, l := range have {
		if score := likeness(squeeze(l.trimmed), first); score > bestScore {
			best, bestScore = i, score
		}
	}
	if best < 0 {
		return &NotFoundError{}
	}
	return have[best].closest(want[0].trimmed)
}

// closest is the refusal of a search whose line want comes closest to l.
func (l line) closest(want string) *NotFoundError {
	return &NotFoundError{Line: l.number, Text: clip(l.trimmed, 80), Want: clip(want, 80)}
}

// squeeze drops the white space inside a line.
func squeeze(line string) string { return strings.Join(strings.Fields(line), "") }

// likeness is the share, 0 to 1, of what a and b have in common at their
// beginning and at their end. Texts of very different length share nothing,
// which also keeps one long search from being compared with every short line.
func likeness(a, b string) float64 {
	short, long := len(a), len(b)
	if short > long {
		short, long = long, short
	}
	if short*2 < long {
		return 0
	}
	head := 0
	for head < short && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < short-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return float64(head+tail) / float64(long)
}
