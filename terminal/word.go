package main

import (
	"slices"
	"strings"
	"unicode"
)

// word is what stands before the cursor and can be completed.
type word struct {
	kind wordKind
	of   string // of an argument: the command
	text string // without the mark before it
	from int    // where it begins, with its mark
	to   int    // where it ends, perhaps behind the cursor
}

// wordKind says what completes a word.
type wordKind int

const (
	noWord       wordKind = iota
	commandWord           // behind the / at the beginning
	argumentWord          // behind a command that takes one of a list
	fileWord              // behind an @
)

// wordAt is the word of a field at its cursor.
func wordAt(f field) word {
	before := string(f.text[:f.at])
	if rest, is := strings.CutPrefix(before, "/"); is && !strings.Contains(rest, "\n") {
		name, argument, behind := strings.Cut(rest, " ")
		if _, takes := arguments[name]; behind && takes {
			return word{argumentWord, name, strings.TrimLeft(argument, " "), f.at - len([]rune(strings.TrimLeft(argument, " "))), f.end()}
		}
		if !behind && !strings.Contains(rest, "/") {
			return word{commandWord, "", rest, 0, f.wordStop()}
		}
	}
	at := f.at
	for at > 0 && !unicode.IsSpace(f.text[at-1]) {
		at--
	}
	for at < f.at && slices.Contains(opening, f.text[at]) {
		at++
	}
	text, is := strings.CutPrefix(string(f.text[at:f.at]), "@")
	if !is || strings.ContainsAny(text, `"`) || lineRange.MatchString(text) {
		return word{}
	}
	return word{fileWord, "", text, at, f.wordStop()}
}

// opening are characters that may stand before an @.
var opening = []rune("([{<'\"" + tabMark)

// wordStop is where the characters from the cursor on end that are no blanks.
func (f field) wordStop() int {
	at := f.at
	for at < len(f.text) && !unicode.IsSpace(f.text[at]) {
		at++
	}
	return at
}

// ranked are the items that fit a text, the best first: the same, one that begins so, one
// of which a part begins so, one that has it, one that has its characters in this order.
func ranked(all []item, text string) []item {
	text = strings.ToLower(text)
	return fitting(all, func(x item) int { return rank(strings.ToLower(x.name), text) })
}

// nearest is the name that a mistyped one most likely means, of two the one that is as
// long; empty when there is none.
func nearest(typed string, names []string) string {
	best, least := "", 0
	for _, name := range names {
		d := distance(typed, name)
		if d > max(1, len(typed)/3) {
			continue
		}
		d = 4*d + min(max(len(typed)-len(name), len(name)-len(typed)), 3)
		if best == "" || d < least {
			best, least = name, d
		}
	}
	return best
}

// distance is how many characters must be put in, left out, replaced, or exchanged with
// their neighbour to make one text of another.
func distance(a, b string) int {
	var older []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j+1]+1, next[j]+1, row[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], older[j-1]+1)
			}
		}
		older, row = row, next
	}
	return row[len(b)]
}
