package frontmatter

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
func showHidden(text []byte) (notes []*Diagnostic) {
	if plainASCII(text) {
		return nil
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	notes = make([]*Diagnostic, 2)
	count := [2]int{}
	line, column, before := 1, 0, rune(0)
	for i, r := range string(text) {
		column++
		_, size := utf8.DecodeRune(text[i:])
		after, _ := utf8.DecodeRune(text[i+size:])
		if sdk.Hidden(r) && !joins(before, r, after) {
			kind, code, what := 1, "hidden-character", "cannot be seen"
			if unicode.Is(unicode.Bidi_Control, r) {
				kind, code, what = 0, "bidi-character", "changes the order in which text is shown"
			}
			if count[kind]++; count[kind] == 1 {
				notes[kind] = Warning(code, line, column, fmt.Sprintf("the character U+%04X %s: what a person reads is not what a model reads", r, what),
					"Remove it, or write what it stands for in words.")
			}
		}
		if before = r; r == '\n' {
			line, column = line+1, 0
		}
	}
	for kind, n := range count {
		if n > 1 {
			notes[kind].Message += fmt.Sprintf("; %d such characters in the file", n)
		}
	}
	return notes
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

// Visible is a text as people are shown it: on one line, without characters
// that nobody sees.
func Visible(s string) string {
	if !strings.ContainsFunc(s, sdk.Hidden) {
		return strings.Join(strings.Fields(s), " ")
	}
	runes := []rune(" " + s + " ")
	var b strings.Builder
	for i, r := range runes[1 : len(runes)-1] {
		if !sdk.Hidden(r) || joins(runes[i], r, runes[i+2]) {
			b.WriteRune(r)
		} else if unicode.IsSpace(r) {
			b.WriteByte(' ')
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
