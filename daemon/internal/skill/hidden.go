package skill

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// joins reports whether a hidden character does its ordinary work between its
// neighbours: in an emoji of several parts, or between letters of a script that
// needs it.
func joins(before, r, after rune) bool {
	visible := func(c rune) bool { return c >= 0x80 && !sdk.Hidden(c) && !unicode.IsSpace(c) }
	switch r {
	case 0xfe0e, 0xfe0f:
		return visible(before) || before == '#' || before == '*' || before >= '0' && before <= '9'
	case 0x200c, 0x200d:
		return (visible(before) || before == 0xfe0f) && visible(after)
	}
	return false
}

// showHidden flags what a reader of the file would not see: once for what
// reorders text and once for the rest, where each is first.
func showHidden(text []byte) []*sdk.SkillDiagnostic {
	if plainASCII(text) {
		return nil
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	var places [2]hiddenPlace // of the first bidirectional one, of the first hidden one
	line, column, before := 1, 0, rune(0)
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		i += size
		column++
		if r == '\n' {
			line, column, before = line+1, 0, r
			continue
		}
		if sdk.Hidden(r) {
			after, _ := utf8.DecodeRune(text[i:])
			if !joins(before, r, after) {
				which := 1
				if unicode.Is(unicode.Bidi_Control, r) {
					which = 0
				}
				places[which].add(line, column, r)
			}
		}
		before = r
	}
	return []*sdk.SkillDiagnostic{
		places[0].note("bidi-character", "changes the order in which text is shown: what a person reads is not what a model reads"),
		places[1].note("hidden-character", "cannot be seen: what a person reads is not what a model reads"),
	}
}

// plainASCII reports whether a text has nothing to look for; most have not.
func plainASCII(text []byte) bool {
	const ones = 0x0101010101010101
	for len(text) >= 8 {
		// Eight at once: none from 0x7f on, and none below the blank or a line end among them.
		word := binary.LittleEndian.Uint64(text)
		if (word|(word+ones))&(0x80*ones) != 0 || (word-0x20*ones)&(0x80*ones) != 0 && !plainBytes(text[:8]) {
			return false
		}
		text = text[8:]
	}
	return plainBytes(text)
}

func plainBytes(text []byte) bool {
	for _, c := range text {
		if c < 0x20 && c != '\n' && c != '\t' && c != '\r' || c >= 0x7f {
			return false
		}
	}
	return true
}

// hiddenPlace is where a kind of character is first, and how many there are.
type hiddenPlace struct {
	line, column, count int
	first               rune
}

func (p *hiddenPlace) add(line, column int, r rune) {
	if p.count++; p.count == 1 {
		p.line, p.column, p.first = line, column, r
	}
}

func (p *hiddenPlace) note(code, what string) *sdk.SkillDiagnostic {
	if p.count == 0 {
		return nil
	}
	more := ""
	if p.count > 1 {
		more = fmt.Sprintf("; %d such characters in the file", p.count)
	}
	return warning(code, p.line, p.column, fmt.Sprintf("the character U+%04X %s%s", p.first, what, more),
		"Remove it, or write what it stands for in words.")
}

// visible is a text as people are shown it: on one line, without characters
// that nobody sees.
func visible(s string) string {
	if !strings.ContainsFunc(s, sdk.Hidden) {
		return strings.Join(strings.Fields(s), " ")
	}
	runes := []rune(s)
	var b strings.Builder
	for i, r := range runes {
		switch {
		case !sdk.Hidden(r):
			b.WriteRune(r)
		case r == 0x2028 || r == 0x2029 || r == 0x85 || r == '\f' || r == '\v':
			b.WriteByte(' ')
		case i > 0 && i+1 < len(runes) && joins(runes[i-1], r, runes[i+1]),
			i > 0 && i+1 == len(runes) && joins(runes[i-1], r, 0):
			b.WriteRune(r)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// Unseen names the places in a file's text where a person does not see what is
// there, each as PATH:LINE:COLUMN and what it is.
func Unseen(path, text string) []string {
	var out []string
	for _, d := range showHidden([]byte(text)) {
		if d != nil {
			out = append(out, fmt.Sprintf("%s:%d:%d: %s", path, d.Line, d.Column, d.Message))
		}
	}
	return out
}
