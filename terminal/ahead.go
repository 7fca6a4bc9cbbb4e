package main

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk/client/show"
)

// ahead is what was entered on the way to another run. It is for that run: in the one that is still shown, a prompt
// would go where the person has left.
type ahead struct {
	going int // calls under way whose answers lead to a run
	kept  []entered
}

// entered is what was sent from the input: a command, or a prompt.
type entered struct {
	text, shown string // shown as it stood there, with marks
}

// led is the answer of a call that leads to a run.
type led struct{ msg tea.Msg }

// leads makes a call of the socket whose answer leads to another run, as ask does.
func (c *conversation) leads(call func(ctx context.Context) tea.Msg) tea.Cmd {
	c.ahead.going++
	ask := c.ask(call)
	return func() tea.Msg { return led{ask()} }
}

// keeps reports whether what was entered waits for the run that one is on the way to.
func (c *conversation) keeps(text, shown string) bool {
	if c.ahead.going == 0 {
		return false
	}
	c.ahead.kept = append(c.ahead.kept, entered{text, shown})
	c.tail = c.p.dim.Render(show.Cut("on the way to another run, where this goes", c.columns()))
	return true
}

// doesKept does what was entered on the way, up to what leads to another run or to another screen.
func (c *conversation) doesKept() tea.Cmd {
	var cmds []tea.Cmd
	for c.ahead.going == 0 && len(c.ahead.kept) > 0 && c.screen == nil && c.next == nil {
		next := c.ahead.kept[0]
		c.ahead.kept = c.ahead.kept[1:]
		cmds = append(cmds, c.does(next.text, next.shown))
	}
	return tea.Batch(cmds...)
}

// arrive takes in where a call has led. Where that is no run, what was entered on the way is back in the input.
func (c *conversation) arrive(msg tea.Msg) tea.Cmd {
	c.ahead.going--
	_, cmd := c.update(msg)
	if c.ahead.going > 0 || len(c.ahead.kept) == 0 {
		return cmd
	}
	var back []string
	for _, e := range c.ahead.kept {
		back = append(back, e.shown)
	}
	c.ahead.kept = nil
	c.putBack(strings.Join(back, "\n"))
	return cmd
}
