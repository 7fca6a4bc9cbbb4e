package show

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// Text makes text of others safe to show: whatever is not printable appears
// as what it is (\x1b, \u202e) instead of steering the terminal or reordering
// what stands around it. Line breaks and tabs stay. Everything that comes from
// the daemon passes here, or through Line, on its way to a terminal.
func Text(text string) string { return escaped(strings.ReplaceAll(text, "\r\n", "\n"), true) }

// Line is Text for what must stay on one line.
func Line(text string) string { return escaped(text, false) }

func escaped(text string, lines bool) string {
	if strings.IndexFunc(text, func(r rune) bool { return !plain(r, lines) }) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, text[i]) // a byte that is no UTF-8
		case plain(r, lines):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// JSON writes every character of a JSON text that is not plain as \u.
// The encoder has done so for what is below a space; beyond ASCII such
// characters can stand only in strings.
func JSON(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return !plain(r, true) }) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case plain(r, true):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
	}
	return b.String()
}

// Readable is a JSON text with <, > and & as themselves, which encoders write as \u for browsers: a person reads and changes it,
// and it says the same.
func Readable(raw []byte) string {
	if !bytes.Contains(raw, []byte(`\u00`)) {
		return string(raw)
	}
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 == len(raw) {
			b.WriteByte(raw[i])
			continue
		}
		switch rest := raw[i:]; {
		case bytes.HasPrefix(rest, []byte(`\u003c`)):
			b.WriteByte('<')
		case bytes.HasPrefix(rest, []byte(`\u003e`)):
			b.WriteByte('>')
		case bytes.HasPrefix(rest, []byte(`\u0026`)):
			b.WriteByte('&')
		default:
			b.Write(rest[:2])
			i++
			continue
		}
		i += len(`\u003c`) - 1
	}
	return b.String()
}

// plain reports whether a character shows as itself and does nothing else.
// Control and format characters (bidi, tags, byte order marks) do not, nor do
// line and paragraph separators, fillers and selectors that nobody sees. The two joiners
// and the selector of emoji do: texts need them, and they move nothing.
func plain(r rune, lines bool) bool {
	switch r {
	case '\n', '\t':
		return lines
	case '\u200c', '\u200d', '\ufe0f':
		return true
	}
	return unicode.IsPrint(r) && !sdk.Hidden(r)
}

// Shorten keeps at most n characters of a line and marks the cut.
func Shorten(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	runes := []rune(text)
	return string(runes[:n-1]) + "…"
}

// OneLine is a text with a blank in the place of each line break and what stands around it.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Indent moves the lines after the first behind an indent.
func Indent(text, by string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+by)
}
