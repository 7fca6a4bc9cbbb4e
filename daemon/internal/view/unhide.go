package view

import (
	"slices"
	"strings"
	"unicode"
)

// flags are the sequences of tags that make a flag of a region of the black one; all other tags hide text.
var flags = []string{"gbeng", "gbsct", "gbwls"}

const (
	blackFlag = '\U0001F3F4'
	tagZero   = '\U000E0000'
	tagEnd    = '\U000E007F'
	joiner    = '\u200D' // of emoji, and of letters in some scripts
	nonJoiner = '\u200C'
	asEmoji   = '\uFE0F'
)

// unhide is a text without what people do not see and a model reads: control characters, which a terminal obeys, what turns
// the direction of writing, tags, and runs of characters that have no width. What emoji and scripts are made of stays.
func unhide(text string) string {
	if !strings.ContainsFunc(text, isOdd) {
		return text
	}
	in, out := []rune(text), make([]rune, 0, len(text))
	for i := 0; i < len(in); i++ {
		switch r := in[i]; {
		case r == '\r' && i+1 < len(in) && in[i+1] == '\n':
		case r == '\r', r == '\u2028', r == '\u2029', r == '\u0085':
			out = append(out, '\n')
		case r == blackFlag:
			n := flagLength(in[i+1:])
			out = append(out, in[i:i+1+n]...)
			i += n
		case !isHidden(r):
			out = append(out, r)
		}
	}
	return string(withoutRuns(out))
}

// isOdd reports whether a character may have to go.
func isOdd(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && (isHidden(r) || isWidthless(r) || unicode.In(r, unicode.Zl, unicode.Zp))
}

// isHidden reports whether a character goes wherever it stands.
func isHidden(r rune) bool {
	switch {
	case r == '\n', r == '\t', isWidthless(r), unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point)
}

// isWidthless reports whether a character has no width and belongs to others beside it.
func isWidthless(r rune) bool {
	return r == joiner || r == nonJoiner || unicode.Is(unicode.Variation_Selector, r)
}

// flagLength is how many characters behind a black flag make another flag of it.
func flagLength(rest []rune) int {
	var name strings.Builder
	for i, r := range rest {
		switch {
		case r == tagEnd && slices.Contains(flags, name.String()):
			return i + 1
		case r <= tagZero || r >= tagEnd || i > len(flags[0]):
			return 0
		}
		name.WriteRune(r - tagZero)
	}
	return 0
}

// withoutRuns leaves of characters without width those that form an emoji or a word with their neighbours.
func withoutRuns(in []rune) []rune {
	out := in[:0]
	for i := 0; i < len(in); {
		end := i
		for end < len(in) && isWidthless(in[end]) {
			end++
		}
		if end == i {
			out = append(out, in[i])
			i++
			continue
		}
		var before, after rune
		if len(out) > 0 {
			before = out[len(out)-1]
		}
		if end < len(in) {
			after = in[end]
		}
		if belongs(before, in[i:end], after) {
			out = append(out, in[i:end]...)
		}
		i = end
	}
	return out
}

// belongs reports whether characters without width are part of what stands around them.
func belongs(before rune, run []rune, after rune) bool {
	joins := before >= 0x80 && after >= 0x80
	switch {
	case len(run) == 2:
		return run[0] == asEmoji && run[1] == joiner && joins
	case len(run) > 2:
		return false
	case run[0] == joiner, run[0] == nonJoiner:
		return joins
	case run[0] == asEmoji && strings.ContainsRune("0123456789#*", before):
		return true // a key
	}
	return before >= 0x80
}
