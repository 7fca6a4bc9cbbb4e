package main

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/bothyd/bothy/sdk/client/show"
)

// pager shows a text that is longer than a screen, on a screen of its own.
type pager struct {
	title string
	text  func(width int) string // drawn, in lines that may be wider
	end   func()                 // the last line has stood there for a moment; may be nil
	by    string                 // the key that opened it, which leaves it, too

	width int
	lines []string // folded for width
	top   int      // the first line that is shown
	room  int      // lines that are shown
	read  bool     // its end was told

	writes bool // what is looked for is being typed
	typed  string
	sought string // what was looked for last
	hits   []int  // lines that have it
	on     int    // the line from which the next one is looked for
	note   string
}

// page shows a text in a pager.
func (c *conversation) page(title string, text func(width int) string) tea.Cmd {
	return c.over(&pager{title: title, text: text})
}

// sayOrPage prints a text above, or shows it in a pager when it is longer than a screen.
func (c *conversation) sayOrPage(title, text string) tea.Cmd {
	if lines := folded(text, c.columns()); len(lines) < c.height-3 {
		return c.say(strings.Join(lines, "\n"))
	}
	return c.page(title, func(int) string { return text })
}

// key implements screen.
func (p *pager) key(m tea.KeyPressMsg) (tea.Cmd, bool) {
	p.note = ""
	if p.writes {
		p.seek(m)
		return nil, false
	}
	switch key := m.Keystroke(); key {
	case "q", "esc", "ctrl+c", "ctrl+d", p.by:
		return nil, true
	case "down", "j", "enter":
		p.scroll(1)
	case "up", "k":
		p.scroll(-1)
	case "space", "pgdown", "ctrl+f", "f":
		p.scroll(max(p.room-1, 1))
	case "b", "pgup", "ctrl+b":
		p.scroll(-max(p.room-1, 1))
	case "g", "home":
		p.scroll(-len(p.lines))
	case "end":
		p.scroll(len(p.lines))
	case "/":
		p.writes, p.typed = true, ""
	case "n":
		p.hit(1)
	default:
		switch m.Text { // some terminals tell shift, some the letter alone
		case "G":
			p.scroll(len(p.lines))
		case "N":
			p.hit(-1)
		case "/":
			p.writes, p.typed = true, ""
		}
	}
	return nil, false
}

// paste implements screen.
func (p *pager) paste(text string) tea.Cmd {
	if p.writes {
		p.typed += show.OneLine(text)
	}
	return nil
}

// seek is a key while what is looked for is typed.
func (p *pager) seek(m tea.KeyPressMsg) {
	switch m.Keystroke() {
	case "esc", "ctrl+c":
		p.writes = false
	case "backspace":
		r := []rune(p.typed)
		if len(r) == 0 {
			p.writes = false
			return
		}
		p.typed = string(r[:len(r)-1])
	case "enter":
		p.writes = false
		if p.typed != "" {
			p.sought = p.typed
		}
		p.hits = found(p.lines, p.sought)
		p.on = p.top - 1 // what stands on the first line counts
		p.hit(1)
	default:
		p.typed += m.Text
	}
}

// hit goes to the next line that has what was looked for, or the one before; round the
// end it begins anew.
func (p *pager) hit(by int) {
	switch {
	case p.sought == "":
		p.note = "/ looks for a text"
		return
	case len(p.hits) == 0:
		p.note = "nowhere: " + show.Line(p.sought)
		return
	}
	i := next(p.hits, p.on, by)
	p.scroll(p.hits[i] - p.top)
	p.on = p.hits[i]
	p.note = fmt.Sprintf("found %d of %d, line %d", i+1, len(p.hits), p.on+1)
}

func (p *pager) scroll(by int) {
	p.top = max(0, min(p.top+by, len(p.lines)-p.room))
	p.on = p.top
}

// ended reports whether the last line is shown.
func (p *pager) ended() bool { return p.width > 0 && p.top+p.room >= len(p.lines) }

// draw implements screen.
func (p *pager) draw(pal palette, width, height int) ([]string, *tea.Cursor) {
	if width != p.width {
		at := 0.0
		if len(p.lines) > 0 {
			at = float64(p.top) / float64(len(p.lines))
		}
		p.width, p.lines = width, folded(p.text(width), width)
		p.top, p.hits = int(at*float64(len(p.lines))), found(p.lines, p.sought)
	}
	p.room = max(height-1, 1)
	p.top = max(0, min(p.top, len(p.lines)-p.room))
	last := min(p.top+p.room, len(p.lines))
	lines := make([]string, 0, height)
	for _, line := range p.lines[p.top:last] {
		lines = append(lines, marked(line, p.sought, pal.odd))
	}
	lines = fill(lines, p.room)
	if p.writes {
		field := "/" + show.Line(p.typed)
		return append(lines, cut(field, width)), tea.NewCursor(min(ansi.StringWidth(field), width-1), height-1)
	}
	return append(lines, p.foot(pal, last, width)), nil
}

// foot says where one is, and the keys.
func (p *pager) foot(pal palette, last, width int) string {
	percent := 100
	if len(p.lines) > 0 {
		percent = 100 * last / len(p.lines)
	}
	place := fmt.Sprintf("%d of %d  %d%%", last, len(p.lines), percent)
	if p.read {
		place += "  all shown"
	}
	if p.note != "" {
		place += "  " + p.note
	}
	return cut(pal.ask.Render(show.Line(p.title))+"  "+place+pal.dim.Render("  q leaves  / finds  space, b"), width)
}

// folded are the lines of a drawn text, none wider than width. What breaks a line leaves
// its styles as they are.
func folded(text string, width int) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) <= width || ansi.StringWidth(line) <= width {
			lines = append(lines, line)
			continue
		}
		wrapped := ansi.Hardwrap(lipgloss.Wrap(line, max(width, 1), ""), max(width, 1), true) // a rule of hyphens is a word that Wrap leaves whole
		lines = append(lines, strings.Split(wrapped, "\n")...)
	}
	return lines
}

// found are the lines that have a text, whatever the case unless the text has capitals.
func found(lines []string, text string) (hits []int) {
	if text == "" {
		return nil
	}
	for i, line := range lines {
		if len(spots(ansi.Strip(line), text)) > 0 {
			hits = append(hits, i)
		}
	}
	return hits
}

// spots are where a line has a text, in bytes.
func spots(line, text string) (at []int) {
	if low := strings.ToLower(text); low == text {
		if folded := strings.ToLower(line); len(folded) == len(line) { // else its places are others
			line = folded
		}
	}
	for from := 0; ; {
		i := strings.Index(line[from:], text)
		if i < 0 || text == "" {
			return at
		}
		at = append(at, from+i)
		from += i + len(text)
	}
}

// marked is a drawn line in which a text stands out.
func marked(line, text string, style lipgloss.Style) string {
	if text == "" {
		return line
	}
	plain := ansi.Strip(line)
	var ranges []lipgloss.Range
	for _, at := range spots(plain, text) {
		from := ansi.StringWidth(plain[:at])
		ranges = append(ranges, lipgloss.NewRange(from, from+ansi.StringWidth(plain[at:at+len(text)]), style))
	}
	if len(ranges) == 0 {
		return line
	}
	return lipgloss.StyleRanges(line, ranges...)
}

// next is the place in hits of the one behind a line, or before it; round the end it
// begins anew.
func next(hits []int, line, by int) int {
	if by > 0 {
		for i, h := range hits {
			if h > line {
				return i
			}
		}
		return 0
	}
	for i := len(hits) - 1; i >= 0; i-- {
		if hits[i] < line {
			return i
		}
	}
	return len(hits) - 1
}
