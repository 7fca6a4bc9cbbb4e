package main

import (
	"regexp"
	"strings"

	"charm.land/glamour/v2"
	"github.com/charmbracelet/x/ansi"
)

// markdown renders texts of the model. It is made anew when the width changes.
type markdown struct {
	width    int
	renderer *glamour.TermRenderer
}

// render draws a text in a width, block by block, so that it looks the same when it is
// drawn while it is written. What cannot be drawn is shown as it is.
func (m *markdown) render(text string, width int, b background) string {
	var drawn []string
	for text = strings.TrimSpace(text); text != ""; {
		n := blockEnd(text)
		if n == 0 {
			n = len(text)
		}
		if block := m.block(text[:n], width, b); block != "" {
			drawn = append(drawn, block)
		}
		text = text[n:]
	}
	return strings.Join(drawn, "\n\n")
}

// block draws one block.
func (m *markdown) block(text string, width int, b background) string {
	text = harmless(text)
	if m.renderer == nil || m.width != width {
		style, formatter := markdownStyle(b)
		r, err := glamour.NewTermRenderer(glamour.WithStyles(style), glamour.WithChromaFormatter(formatter), glamour.WithWordWrap(max(width, narrow)))
		if err != nil {
			return text
		}
		m.renderer, m.width = r, width
	}
	if code, is := fenced(text); is && len(code) > mostCode {
		return plainCode(code)
	}
	drawn, err := m.renderer.Render(unreferred(text))
	if err != nil {
		return text
	}
	return trimmed(ampersands.Replace(drawn))
}

// ampersand stands for & while a text is drawn, so that no reference to a character
// (&#27;) becomes that character behind what makes texts harmless. No harmless text has
// it. In an address of an image it is written in another way.
const ampersand = "\ue000"

var ampersands = strings.NewReplacer(ampersand, "&", "%EE%80%80", "&")

// query is an & with what follows it in the address of a page (a=1&b=2), which is left as
// it is: else the address would end there.
var query = regexp.MustCompile(`&([A-Za-z][A-Za-z0-9_.~-]*=)?`)

// unreferred is a text without references to characters.
func unreferred(text string) string {
	return query.ReplaceAllStringFunc(text, func(at string) string {
		if at == "&" || strings.HasPrefix(at, "&shy") { // the one of those that nobody sees
			return ampersand + at[1:]
		}
		return at
	})
}

// trimmed is a block without the blanks at the ends of its lines, and without blank lines
// around it.
func trimmed(drawn string) string {
	lines := strings.Split(drawn, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
		if strings.TrimSpace(ansi.Strip(line)) == "" {
			lines[i] = ""
		}
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// mostCode is how much code gets colours, in bytes: they take long.
const mostCode = 32 << 10

// plainCode is code without colours, and without the fence behind it.
func plainCode(code string) string {
	lines := strings.Split(strings.TrimRight(code, "\n"), "\n")
	if last := len(lines) - 1; fenceLine.MatchString(lines[last]) {
		lines = lines[:last]
	}
	return "  " + strings.Join(lines, "\n  ")
}

var (
	fenceLine = regexp.MustCompile("^( *)(```+|~~~+)")
	itemLine  = regexp.MustCompile(`^ {0,3}([-*+]|[0-9]{1,9}[.)])( |\t|$)`)
)

// blockEnd is where the first block of a Markdown text ends: a paragraph, a list, a table,
// code between fences. It is 0 while more of the text could still belong to it.
func blockEnd(text string) int {
	var b block
	for at := 0; ; {
		n := strings.IndexByte(text[at:], '\n')
		if n < 0 {
			return 0
		}
		line := strings.TrimRight(text[at:at+n], " \t\r")
		switch b.take(line) {
		case before:
			return at
		case behind:
			return at + n + 1
		}
		at += n + 1
	}
}

// fenced is the code of a block that begins with a fence and has not ended.
func fenced(text string) (code string, is bool) {
	text = strings.TrimLeft(text, "\n")
	first, rest, _ := strings.Cut(text, "\n")
	at := fenceLine.FindStringSubmatch(first)
	return rest, at != nil && len(at[1]) < 4
}

// block is what is known of a block whose lines are read one by one.
type block struct {
	began bool
	list  bool
	blank bool   // the line before is blank
	fence string // that is open
	inner bool   // the fence is a part of a list
}

// end says where a block ends.
type end int

const (
	open   end = iota
	before     // the line is the first of the next block
	behind     // the line is the last one
)

// take takes in a line.
func (b *block) take(line string) end {
	var fence []string
	if start := strings.TrimLeft(line, " "); strings.HasPrefix(start, "```") || strings.HasPrefix(start, "~~~") {
		fence = fenceLine.FindStringSubmatch(line)
	}
	switch {
	case b.fence != "":
		if fence != nil && strings.HasPrefix(fence[2], b.fence) && strings.TrimSpace(line) == fence[2] {
			b.fence = ""
			if !b.inner {
				return behind
			}
		}
		return open
	case line == "":
		b.blank = b.began
		if b.began && !b.list {
			return behind
		}
		return open
	case fence != nil && (len(fence[1]) < 2 || !b.list && len(fence[1]) < 4):
		if b.began {
			return before
		}
		b.fence, b.began = fence[2], true
		return open
	case fence != nil && b.list:
		b.fence, b.inner = fence[2], true
	case !b.began:
		b.list = itemLine.MatchString(line)
	case b.list && b.blank && line[0] != ' ' && line[0] != '\t' && !itemLine.MatchString(line):
		return before
	}
	b.began, b.blank = true, false
	return open
}
