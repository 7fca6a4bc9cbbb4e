package main

import (
	"slices"
	"unicode"
)

// field is a text under editing, and where the cursor stands in it: before the character
// of that number, or behind the last one. Its methods change no field: each answers with
// another one, or with a place.
type field struct {
	text []rune
	at   int
}

// fieldOf is a text with the cursor at its end.
func fieldOf(text string) field {
	all := []rune(text)
	return field{all, len(all)}
}

// within is a place that is in the text.
func (f field) within(at int) int { return min(max(at, 0), len(f.text)) }

// begin and end are where the cursor's line begins, and where its line break stands.
func (f field) begin() int {
	at := f.at
	for at > 0 && f.text[at-1] != '\n' {
		at--
	}
	return at
}

func (f field) end() int {
	at := f.at
	for at < len(f.text) && f.text[at] != '\n' {
		at++
	}
	return at
}

// row is the number of the cursor's line, and how far in it the cursor stands.
func (f field) row() (row, column int) {
	for _, r := range f.text[:f.at] {
		if r == '\n' {
			row++
		}
	}
	return row, f.at - f.begin()
}

// cut is the field without the characters from one place up to another, and those.
func (f field) cut(from, to int) (field, []rune) {
	from, to = f.within(min(from, to)), f.within(max(from, to))
	gone := slices.Clone(f.text[from:to])
	return field{slices.Concat(f.text[:from], f.text[to:]), from}, gone
}

// put is the field with characters before a place, and the cursor behind them.
func (f field) put(at int, what []rune) field {
	at = f.within(at)
	return field{slices.Concat(f.text[:at], what, f.text[at:]), at + len(what)}
}

// kindOf is the kind of a character, for words as vi has them.
func kindOf(r rune) int {
	switch {
	case unicode.IsSpace(r):
		return 0
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
		return 1
	}
	return 2
}

// nextWord is where the next word begins, or the end.
func (f field) nextWord() int {
	at := f.at
	if at < len(f.text) {
		for s := kindOf(f.text[at]); s != 0 && at < len(f.text) && kindOf(f.text[at]) == s; {
			at++
		}
	}
	for at < len(f.text) && kindOf(f.text[at]) == 0 {
		at++
	}
	return at
}

// wordBefore is where the word before the cursor begins.
func (f field) wordBefore() int {
	at := f.at
	for at > 0 && kindOf(f.text[at-1]) == 0 {
		at--
	}
	if at > 0 {
		for s := kindOf(f.text[at-1]); at > 0 && kindOf(f.text[at-1]) == s; {
			at--
		}
	}
	return at
}

// wordEnd is the last character of this word, of the next one when the cursor stands on
// it already.
func (f field) wordEnd() int {
	at := f.at + 1
	for at < len(f.text) && kindOf(f.text[at]) == 0 {
		at++
	}
	if at >= len(f.text) {
		return max(len(f.text)-1, 0)
	}
	for s := kindOf(f.text[at]); at+1 < len(f.text) && kindOf(f.text[at+1]) == s; {
		at++
	}
	return at
}

// firstText is the first character of the cursor's line that is no blank.
func (f field) firstText() int {
	at := f.begin()
	for at < f.end() && unicode.IsSpace(f.text[at]) {
		at++
	}
	return at
}

// above and below are the same column of the line before and after; false where there is
// none.
func (f field) above() (int, bool) {
	begin := f.begin()
	if begin == 0 {
		return f.at, false
	}
	up := field{f.text, begin - 1}
	return min(up.begin()+f.at-begin, begin-1), true
}

func (f field) below() (int, bool) {
	end := f.end()
	if end == len(f.text) {
		return f.at, false
	}
	down := field{f.text, end + 1}
	return min(end+1+f.at-f.begin(), down.end()), true
}
