package main

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

// ahead is what was typed and pasted on the way to another run. It is for that run: in the one that is still shown, a
// prompt would go where the person has left.
type ahead struct {
	going int // calls under way whose answers lead to a run
	typed []tea.Msg
}

// led is the answer of a call that leads to a run.
type led struct{ msg tea.Msg }

// leads makes a call of the socket whose answer leads to another run, as ask does.
func (c *conversation) leads(call func(ctx context.Context) tea.Msg) tea.Cmd {
	c.ahead.going++
	ask := c.ask(call)
	return func() tea.Msg { return led{ask()} }
}

// keeps reports whether a key, or what was pasted, waits for the run that one is on the way to. Ctrl-C does not wait, and ends
// the wait of what was typed before it: the daemon may not answer.
func (a *ahead) keeps(m tea.Msg) bool {
	if key, is := m.(tea.KeyPressMsg); is && key.Keystroke() == "ctrl+c" {
		a.typed = nil
		return false
	}
	if a.going > 0 {
		a.typed = append(a.typed, m)
	}
	return a.going > 0
}

// arrive takes in where a call has led, and then what was typed meanwhile, up to what leads to another run.
func (c *conversation) arrive(msg tea.Msg) tea.Cmd {
	c.ahead.going--
	_, cmd := c.update(msg)
	cmds := []tea.Cmd{cmd}
	for c.ahead.going == 0 && len(c.ahead.typed) > 0 {
		next := c.ahead.typed[0]
		c.ahead.typed = c.ahead.typed[1:]
		_, cmd = c.update(next)
		cmds = append(cmds, cmd)
	}
	return tea.Batch(cmds...)
}
