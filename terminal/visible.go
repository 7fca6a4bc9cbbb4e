package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// tabWidth is how many columns a tab leads on by.
const tabWidth = 8

// visible makes a text of others harmless: what is not printable appears as what it is,
// such as \x1b, instead of steering the terminal or reordering what stands around it.
// Line breaks stay.
func visible(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, text[i]) // a byte that is no UTF-8
		case r == '\n', shows(r):
			b.WriteRune(r)
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

// shows reports whether a character shows as itself and does nothing else. The two
// joiners do: scripts and emoji need them, and they move nothing.
func shows(r rune) bool {
	switch r {
	case '\u200c', '\u200d':
		return true
	}
	return unicode.IsPrint(r) && !sdk.Hidden(r)
}

// visibleLine is visible for what must stay on one line.
func visibleLine(text string) string {
	return strings.ReplaceAll(visible(text), "\n", `\n`)
}

// output is what a program printed, as a terminal would show it: tabs lead to their
// columns, and what a carriage return went back over is gone.
func output(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		line = strings.TrimRight(line, "\r")
		if at := strings.LastIndexByte(line, '\r'); at >= 0 {
			line = line[at+1:]
		}
		b.WriteString(visible(tabs(uncoloured(line))))
	}
	return b.String()
}

// tabs puts spaces in the place of tabs.
func tabs(line string) string {
	if !strings.Contains(line, "\t") {
		return line
	}
	var b strings.Builder
	column := 0
	for _, r := range line {
		if r == '\t' {
			n := tabWidth - column%tabWidth
			b.WriteString(strings.Repeat(" ", n))
			column += n
			continue
		}
		b.WriteRune(r)
		column++
	}
	return b.String()
}

// uncoloured takes the colours out that a program chose: of all that steers a terminal
// those alone are left out, the rest is shown as what it is.
func uncoloured(line string) string {
	for {
		at := strings.Index(line, "\x1b[")
		if at < 0 {
			return line
		}
		end := at + 2
		for end < len(line) && (line[end] >= '0' && line[end] <= '9' || line[end] == ';') {
			end++
		}
		if end == len(line) || line[end] != 'm' {
			return line[:at+1] + uncoloured(line[at+1:])
		}
		line = line[:at] + line[end+1:]
	}
}
