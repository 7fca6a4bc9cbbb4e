package show

import "strings"

// tabWidth is how many columns a tab leads on by in what a program prints.
const tabWidth = 8

// Output is what a program printed, as a terminal would show it: tabs lead to their
// columns, what a carriage return went back over is gone, and colours are left out. All
// else that steers a terminal appears as what it is.
func Output(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		line = strings.TrimRight(line, "\r")
		if at := strings.LastIndexByte(line, '\r'); at >= 0 {
			line = line[at+1:]
		}
		b.WriteString(Line(Tabs(uncoloured(line), tabWidth)))
	}
	return b.String()
}

// Tabs puts spaces in the place of tabs, each of which leads to the next column that
// is a multiple of every.
func Tabs(text string, every int) string {
	if !strings.Contains(text, "\t") {
		return text
	}
	var b strings.Builder
	column := 0
	for _, r := range text {
		switch r {
		case '\t':
			n := every - column%every
			b.WriteString(strings.Repeat(" ", n))
			column += n
		case '\n':
			column = 0
			b.WriteRune(r)
		default:
			b.WriteRune(r)
			column += runeWidth(r)
		}
	}
	return b.String()
}

// uncoloured takes the colours out that a program chose: of all that steers a terminal
// those alone are left out, the rest is shown as what it is.
func uncoloured(line string) string {
	var b strings.Builder
	for {
		at := strings.Index(line, "\x1b[")
		if at < 0 && b.Len() == 0 {
			return line
		}
		if at < 0 {
			b.WriteString(line)
			return b.String()
		}
		end := at + 2
		for end < len(line) && (line[end] >= '0' && line[end] <= '9' || line[end] == ';') {
			end++
		}
		if end < len(line) && line[end] == 'm' {
			b.WriteString(line[:at])
			end++
		} else {
			b.WriteString(line[:end])
		}
		line = line[end:]
	}
}
