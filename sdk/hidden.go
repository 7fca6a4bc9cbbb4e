package sdk

import (
	"slices"
	"unicode"
)

// Hidden reports whether nobody sees a character: controls, format characters,
// fillers, variation selectors, separators of lines at which no editor breaks.
// Line ends and tabs are no such characters. In an emoji, or between letters of
// some scripts, a hidden character does its ordinary work.
func Hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		return false
	case r < 0x80:
		return r < ' ' || r == 0x7f
	}
	return unicode.IsControl(r) ||
		unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Stands reports whether a character is seen, stands by itself and moves nothing
// around it. Marks change the look of another character; fillers and joiners are
// letters to the tables and nothing to the eye. Of blanks only the space stands.
func Stands(r rune) bool {
	switch {
	case r < 0x80:
		return unicode.IsPrint(r)
	case Hidden(r), unicode.Is(unicode.M, r):
		return false
	case slices.Contains(blank, r):
		return false
	}
	return unicode.IsPrint(r)
}

// blank are the characters that the tables call letters or symbols and that have no
// glyph: braille without dots, a half space of CJK, the place of an object, blanks of
// hieroglyphs and a note without a head.
var blank = []rune{'\u2800', '\u303f', '\ufffc', '\U00013441', '\U00013442', '\U0001d159'}
