package main

import (
	tea "charm.land/bubbletea/v2"
)

// sure is a question of the terminal itself, before a command does what it was told.
type sure struct {
	lines []string // what is asked
	yes   func() tea.Cmd
	no    func() tea.Cmd
	more  func() tea.Cmd // shows all of it; may be nil
}

// askSure asks. A question of the run that stands there comes first: a key that is meant
// for it must answer nothing else.
func (c *conversation) askSure(s sure) tea.Cmd {
	if c.open != nil {
		return c.say(c.p.ask.Render("  answer the question first") + c.p.dim.Render(", then say that again"))
	}
	c.sure = &s
	return nil
}

// sureKey is a key while the terminal asks.
func (c *conversation) sureKey(m tea.KeyPressMsg) tea.Cmd {
	s := c.sure
	switch m.Keystroke() {
	case "y":
		c.sure = nil
		return s.yes()
	case "n", "esc", "ctrl+c":
		c.sure = nil
		if s.no != nil {
			return s.no()
		}
		return c.say(c.p.dim.Render("  nothing was done"))
	case "d":
		if s.more != nil {
			return s.more()
		}
	}
	return nil
}

// sureLines are what stands there.
func (c *conversation) sureLines() []string {
	keys := []string{"y", "yes", "n", "no"}
	if c.sure.more != nil {
		keys = append(keys, "d", "all of it")
	}
	lines := append([]string{}, c.sure.lines...)
	return append(lines, c.keyLines(keys...)...)
}
