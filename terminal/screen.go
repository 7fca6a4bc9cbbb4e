package main

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk/client/show"
)

// screen stands over the conversation, on the terminal's alternate screen, until it ends.
// The conversation goes on below it, and what it has to say is printed afterwards.
type screen interface {
	// key takes a key. Ends reports that the screen is done with; cmd is then what comes
	// of it.
	key(m tea.KeyPressMsg) (cmd tea.Cmd, ends bool)
	// paste takes a text that was pasted.
	paste(text string) tea.Cmd
	// draw is what stands on it, in so many columns and rows. The cursor is nil where
	// nothing is typed.
	draw(p palette, width, height int) (lines []string, cursor *tea.Cursor)
}

// shows does something with a conversation, from outside of Update: it shows what was
// asked for.
type shows struct{ do func(c *conversation) tea.Cmd }

// stage is where a screen stands.
type stage struct {
	screen screen            // nil: none
	next   screen            // comes as soon as what is under way to the terminal stands there
	stands bool              // the terminal has the screen, or is not back from it yet
	early  []tea.KeyPressMsg // keys that came before
}

// What the terminal was sent.
type (
	// screenStands says that the terminal is on its alternate screen.
	screenStands struct{}
	// screenLeft says that it is back on its own.
	screenLeft struct{}
)

// over puts a screen over the conversation.
func (c *conversation) over(s screen) tea.Cmd {
	switch {
	case c.printing:
		c.next = s
		return nil
	case c.screen != nil: // the terminal goes nowhere
		c.screen = s
		return nil
	}
	c.screen, c.stands, c.next = s, false, nil
	return nil
}

// screenCame gives the screen what was typed before it stood there.
func (c *conversation) screenCame() tea.Cmd {
	c.stands = true
	early := c.early
	c.early = nil
	var cmds []tea.Cmd
	for _, m := range early {
		if c.screen == nil {
			cmds = append(cmds, c.key(m))
			continue
		}
		cmds = append(cmds, c.screenKey(m))
	}
	return tea.Batch(cmds...)
}

// screenKey gives a key to the screen.
func (c *conversation) screenKey(m tea.KeyPressMsg) tea.Cmd {
	c.guard.key()
	if !c.stands {
		c.early = append(c.early, m)
		return nil
	}
	cmd, ends := c.screen.key(m)
	if ends {
		c.screen = nil
		c.printing = true // until the terminal is back on its own screen
	}
	return cmd
}

// screenView is the screen as the terminal gets it.
func (c *conversation) screenView() tea.View {
	width, height := max(c.width, 10), max(c.height, 3)
	news := c.screenNews()
	if news != "" {
		height--
	}
	lines, cursor := c.screen.draw(c.p, width, height)
	if news != "" {
		lines = append(lines, cut(news, width))
	}
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen, v.Cursor, v.ReportFocus = true, cursor, true
	return v
}

// What sends a terminal to its alternate screen, and back to its own.
var (
	alternate = []byte("\x1b[?1049h")
	itsOwn    = []byte("\x1b[?1049l")
)

// screenNews says that a question waits below the screen, or in another run.
func (c *conversation) screenNews() string {
	switch {
	case c.open != nil && !c.open.paged:
		return c.p.ask.Render("? "+show.Line(c.run)+" asks") + c.p.dim.Render("  leave this to answer")
	case len(c.beside(0)) > 0:
		return c.besideLine()
	}
	return ""
}
