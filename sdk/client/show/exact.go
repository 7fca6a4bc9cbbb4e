package show

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// Exact turns bytes into what a person sees of them when an answer depends on every one:
// \xNN is a byte, \u{...} a character that shows as nothing, as another's ornament, or
// steers the terminal. No two texts look alike, so what was shown maps back to the bytes:
// a backslash that only looks as if it began such a form is shown as \x5c, and a tab as ⇥
// with room behind it. What does not show as itself is Odd, the rest has the style that is
// given. Line breaks are odd too: Quote draws a text of several lines.
func Exact(text string, s Style) Spans {
	var w writer
	for _, p := range pieces(text) {
		w.piece(p, s)
	}
	return w.line()
}

// ExactLine is Exact as a text without styles, for a log too: a tab is \x09 in it.
func ExactLine(text string) string {
	var b strings.Builder
	for _, p := range pieces(text) {
		if p.text == tab {
			p = oddPiece(`\x09`)
		}
		b.WriteString(p.text)
	}
	return b.String()
}

// piece is what one character of a text looks like.
type piece struct {
	text  string
	width int
	style Style // Plain is that of what stands around it
}

func pieces(text string) []piece {
	all := make([]piece, 0, len(text))
	seen := 0 // where the last run of spaces ends that is seen
	for i := 0; i < len(text); {
		if text[i] == ' ' && i >= seen {
			end := i + len(text[i:]) - len(strings.TrimLeft(text[i:], " "))
			if end < len(text) && text[end] != '\n' {
				seen = end
			} else {
				for ; i < end; i++ {
					all = append(all, oddPiece(`\x20`)) // only spaces are left of the line: nobody sees those
				}
				continue
			}
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1, r < 0x80 && r != '\t' && !unicode.IsPrint(r), r == '\\' && looksOdd.MatchString(text[i:]):
			all = append(all, oddPiece(fmt.Sprintf(`\x%02x`, text[i])))
		case r == '\t':
			all = append(all, piece{text: tab, width: 5, style: Dim})
		case !sdk.Stands(r), text[i:i+n] == tabMark:
			all = append(all, oddPiece(fmt.Sprintf(`\u{%x}`, r)))
		default:
			all = append(all, piece{text: text[i : i+n], width: runeWidth(r)})
		}
		i += n
	}
	return all
}

func oddPiece(text string) piece { return piece{text: text, width: len(text), style: Odd} }

// tab is what a tab looks like: a mark that stands for nothing else, and room as in code.
const (
	tab     = tabMark + "   "
	tabMark = "\u21e5" // ⇥
)

// looksOdd is how a text begins that looks like what Exact writes for an odd character.
var looksOdd = regexp.MustCompile(`^\\(x[0-9a-fA-F]{2}|u\{[0-9a-fA-F]+\})`)

// runeWidth is how many columns a character may take: two for all that could be
// wide, so that no line is longer than it was meant to be.
func runeWidth(r rune) int {
	if r >= 0x1100 {
		return 2
	}
	return 1
}

// What stands before the lines of a quoted text. Nothing in the text can look
// like it: a line is broken where the terminal would do so.
const (
	lineMark = "| " // a line of the text
	foldMark = "+ " // the line before it goes on
)

// Quote draws a text exactly, line by line behind an indent, each behind its mark, in
// lines of at most width columns; 0 is any. The style of a line is chosen by its text;
// without hue it is plain.
func Quote(text, indent string, width int, hue func(line string) Style) []Spans {
	var all []Spans
	for _, line := range strings.Split(text, "\n") {
		s := Plain
		if hue != nil {
			s = hue(line)
		}
		all = append(all, Flow(Spans{{Plain, indent}, {Dim, lineMark}}, line, indent, width, s)...)
	}
	return all
}

// Flow draws a line exactly behind a lead. Where the terminal would break it, it goes
// on behind indent and the mark of that. Width is at least what the indent, the mark and
// one character take; 0 is any.
func Flow(lead Spans, line, indent string, width int, s Style) []Spans {
	if width > 0 {
		width = max(width, len(indent)+len(foldMark)+1)
	}
	var all []Spans
	w := writer{spans: slices.Clone(lead)}
	used := len(lead.String())
	for _, p := range pieces(line) {
		if width > 0 && used+p.width > width {
			all = append(all, w.line())
			w = writer{spans: Spans{{Plain, indent}, {Dim, foldMark}}}
			used = len(indent) + len(foldMark)
		}
		used += p.width
		w.piece(p, s)
	}
	return append(all, w.line())
}

// BeyondASCII counts the characters that could be taken for others: letters of
// many alphabets look like the Latin ones.
func BeyondASCII(text string) int {
	n := 0
	for _, r := range text {
		if r >= 0x80 {
			n++
		}
	}
	return n
}
