package main

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// typing is what the person types with, beside the input itself.
type typing struct {
	outbox []outgoing     // what goes to the daemon, in order
	sends  func() tea.Msg // sends the first of it, once, and has what came of that
	own    own            // commands that the person runs
	menu   menu           // what completes the word at the cursor
	search *search        // in what was typed
	chord  bool           // ctrl-x was pressed
	set    settings
}

// inputLines are the input with what stands below it, or the search in its place, and
// where the cursor stands in them.
func (c *conversation) inputLines() ([]string, *tea.Cursor) {
	if c.search != nil && c.open == nil {
		return c.search.lines(c)
	}
	if c.open != nil && c.open.secret() {
		return masked(c.promptMark(), c.in.text())
	}
	*c.in.mark = c.promptMark()
	lines := strings.Split(c.in.area.View(), "\n")
	at := c.in.area.Cursor()
	if at != nil && c.in.vi != nil && !c.in.vi.normal {
		at.Shape = tea.CursorBar
	}
	if c.open == nil && c.sure == nil && len(c.menu.items) > 0 {
		for _, line := range c.menu.lines(c) {
			lines = append(lines, cut(line, max(c.width-1, 1)))
		}
	}
	return lines, at
}

// promptMark says what enter would do, and what keys mean.
func (c *conversation) promptMark() string {
	switch {
	case c.open != nil:
	case c.in.normal():
		return "N "
	case strings.HasPrefix(c.in.area.Value(), "!"):
		return "! "
	}
	return "> "
}
