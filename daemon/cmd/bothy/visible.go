package main

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// piece is what one character of a text looks like. An odd one does not show as
// itself, and is highlighted.
type piece struct {
	text  string
	width int
	odd   bool
}

// escapeVisible turns bytes into what a person sees of them when an answer depends on
// every one: \xNN is a byte, \u{...} a character that shows as nothing, as
// another's ornament, or steers the terminal. No two texts look alike, so what
// was shown maps back to the bytes: a backslash that only looks as if it began
// such a form is shown as \x5c.
func escapeVisible(text string) []piece {
	pieces := make([]piece, 0, len(text))
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1, r < 0x80 && !unicode.IsPrint(r), r == '\\' && looksOdd.MatchString(text[i:]):
			pieces = append(pieces, oddPiece(fmt.Sprintf(`\x%02x`, text[i])))
		case r == ' ' && ends(text[i:]):
			pieces = append(pieces, oddPiece(`\x20`))
		case !shows(r):
			pieces = append(pieces, oddPiece(fmt.Sprintf(`\u{%x}`, r)))
		default:
			pieces = append(pieces, piece{text: text[i : i+n], width: runeWidth(r)})
		}
		i += n
	}
	return pieces
}

func oddPiece(text string) piece { return piece{text: text, width: len(text), odd: true} }

// looksOdd is how a text begins that looks like what escapeVisible writes for an
// odd character.
var looksOdd = regexp.MustCompile(`^\\(x[0-9a-fA-F]{2}|u\{[0-9a-fA-F]+\})`)

// ends reports whether only spaces are left of a line: nobody sees those.
func ends(text string) bool {
	rest := strings.TrimLeft(text, " ")
	return rest == "" || rest[0] == '\n'
}

// shows reports whether a character is seen, stands by itself and moves nothing
// around it. Marks change the look of another character; fillers and joiners are
// letters to the tables and nothing to the eye.
func shows(r rune) bool {
	switch {
	case r < 0x80:
		return unicode.IsPrint(r)
	case sdk.Hidden(r), unicode.Is(unicode.M, r):
		return false
	case r == '\u2800': // a braille letter without dots
		return false
	}
	return unicode.IsPrint(r)
}

// runeWidth is how many columns a character may take: two for all that could be
// wide, so that no line is longer than it was meant to be.
func runeWidth(r rune) int {
	if r >= 0x1100 {
		return 2
	}
	return 1
}

// visibleLine is exact on one line: line breaks are odd characters as well.
func (c *console) visibleLine(text string) string {
	var b strings.Builder
	for _, p := range escapeVisible(text) {
		b.WriteString(c.lit(p))
	}
	return b.String()
}

// lit is a piece as the terminal shows it.
func (c *console) lit(p piece) string {
	if p.odd {
		return c.paint(inverse, p.text)
	}
	return p.text
}

// What stands before the lines of a quoted text. Nothing in the text can look
// like it: a line is broken where the terminal would do so.
const (
	lineMark = "| " // a line of the text
	foldMark = "+ " // the line before it goes on
)

// quote writes a text line by line behind an indent, each behind its mark, in
// lines of at most width columns; 0 is any. The style of a line is chosen by its
// text.
func (c *console) quote(b *strings.Builder, text, indent string, width int, hue func(line string) style) {
	for _, line := range strings.Split(text, "\n") {
		s := plainStyle
		if hue != nil {
			s = hue(line)
		}
		b.WriteString(indent + c.paint(dim, lineMark))
		c.flow(b, line, indent, len(indent)+len(lineMark), width, s)
	}
}

// flow writes a line behind what takes so many columns of it already. Where the
// terminal would break it, it goes on behind indent and the mark of that.
func (c *console) flow(b *strings.Builder, line, indent string, used, width int, s style) {
	if width > 0 {
		width = max(width, len(indent)+len(foldMark)+20)
	}
	run := ""
	for _, p := range escapeVisible(line) {
		if width > 0 && used+p.width > width {
			b.WriteString(c.paint(s, run) + "\n" + indent + c.paint(dim, foldMark))
			used, run = len(indent)+len(foldMark), ""
		}
		used += p.width
		if p.odd {
			b.WriteString(c.paint(s, run) + c.lit(p))
			run = ""
			continue
		}
		run += p.text
	}
	b.WriteString(c.paint(s, run) + "\n")
}

// beyondASCII counts the characters that could be taken for others: letters of
// many alphabets look like the Latin ones.
func beyondASCII(text string) int {
	n := 0
	for _, r := range text {
		if r >= 0x80 {
			n++
		}
	}
	return n
}
