package shell

import (
	"unicode"
	"unicode/utf8"
)

// sizeCap is the most bytes of a line that are judged. Who has more to say puts
// it in a file.
const sizeCap = 16 << 10

// checkBytes refuses what a person who looks at a line does not see as the
// shell does: bytes that are no text, control characters, and characters that
// are invisible, turn the text around or only look like a blank.
func checkBytes(line string) finding {
	if len(line) > sizeCap {
		return finding{Denied, "shell.size", says("the line has %d bytes, and at most %d are judged; write the long part to a file and name that", len(line), sizeCap)}
	}
	for i := 0; i < len(line); {
		r, n := utf8.DecodeRuneInString(line[i:])
		if r == utf8.RuneError && n == 1 {
			return finding{Denied, "shell.bytes", says("byte %d (0x%02x) is no UTF-8; write the line as plain text", i, line[i])}
		}
		if !shown(r) {
			return finding{Denied, "shell.bytes", says("byte %d is U+%04X, which cannot be seen for what it is; write the line without it, or with printf '\\...' inside the program", i, r)}
		}
		i += n
	}
	return finding{}
}

// shown reports whether a character is seen as what it is. Of the format
// characters only the one that joins emoji would be harmless, and it is as
// invisible as the others.
func shown(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return true
	case r < 0x80:
		return r >= ' ' && r != 0x7f
	case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), unicode.Is(unicode.Cs, r):
		return false
	case unicode.Is(unicode.Z, r): // every separator but the plain blank
		return false
	case unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return r == 0xfe0f // after an emoji; alone it shows nothing and means nothing to the shell
	case r == 0x2800, r == 0xfffc: // a blank braille cell, and the place of an object
		return false
	}
	return unicode.IsPrint(r) || unicode.Is(unicode.M, r)
}
