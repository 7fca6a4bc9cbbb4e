package main

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk/client/show"
)

// sure is a question of the terminal itself, before a command does what it was told.
type sure struct {
	lines []string // what is asked
	yes   func() tea.Cmd
	no    func() tea.Cmd
	more  func() tea.Cmd // shows all of it; may be nil
	read  bool           // all lines were shown in a pager
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
		if !c.guard.what.seen {
			c.tail = c.p.ask.Render("y says yes when all of it was shown")
			return c.over(&pager{title: "what is asked", text: func(int) string { return strings.Join(s.lines, "\n") }, end: func() { s.read = true }})
		}
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
	return c.typedEarly(m)
}

// seen reports whether all that is asked was shown.
func (s *sure) seen(c *conversation) bool { return s.read || c.fits(c.sureLines()) }

// sureLines are what stands there.
func (c *conversation) sureLines() []string {
	keys := []string{"y", "yes", "n", "no"}
	if c.sure.more != nil {
		keys = append(keys, "d", "all of it")
	}
	lines := slices.Clone(c.sure.lines)
	if c.open != nil {
		lines = append(lines, c.p.ask.Render("  "+show.Line(c.run)+" asks, too")+c.p.dim.Render(": that comes next"))
	}
	return append(lines, c.answerKeys(keys...)...)
}
