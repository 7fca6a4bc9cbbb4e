package sdk

import "unicode"

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
