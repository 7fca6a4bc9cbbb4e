package main

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/timeline"
)

// catchUp shows the last of what was there before.
func (c *conversation) catchUp() tea.Cmd {
	if !c.behind {
		return nil
	}
	c.behind = false
	c.queue = slices.DeleteFunc(c.queue, func(q queued) bool { return !c.waiting(q.loop) })
	var cmds []tea.Cmd
	blocks := []string{c.head}
	loops := c.line.Loops
	if n := len(loops) - lastShown; n > 0 {
		blocks = append(blocks, (c.p.dim.Render(show.Plural(n, "earlier prompt") + " of " + show.Line(c.run) + ": /show shows all")))
		for _, l := range loops[:n] { // a row of them may come again
			c.shown[l], c.shown[l.End] = true, true
			for _, t := range l.Turns {
				c.shown[replyOf(t)] = true
			}
			for _, a := range l.Actions() {
				c.shown[a] = a.State.Ended()
			}
		}
		loops = loops[n:]
	}
	for i, l := range slices.DeleteFunc(slices.Clone(loops), takenLoop) {
		if between := c.pastOwn(l); i > 0 || len(loops) == len(c.line.Loops) {
			blocks = append(blocks, between...)
		}
		more, cmd := c.pastLoop(l)
		blocks, cmds = append(blocks, more...), append(cmds, cmd)
	}
	blocks = append(blocks, c.pastOwn(nil)...)
	return tea.Sequence(append([]tea.Cmd{c.begins(strings.Join(blocks, "\n"))}, cmds...)...) // in one piece: it is drawn at once
}

// lastShown is how many prompts are shown when one comes back.
const lastShown = 3

// pastLoop are the blocks of a loop as far as it has come, and what goes on with it.
func (c *conversation) pastLoop(l *timeline.Loop) (blocks []string, cmd tea.Cmd) {
	if l.Began.IsZero() {
		c.enqueue(queued{l.ID, l.Sequence, l.Prompt})
		return nil, nil
	}
	c.shown[l] = true
	blocks = append(blocks, c.promptBlock(l))
	for _, t := range l.Turns {
		if text := strings.TrimSpace(t.Text); text != "" {
			c.shown[replyOf(t)] = true
			blocks = append(blocks, c.textBlock(text))
		}
		for _, a := range t.Actions {
			if a.State.Ended() {
				c.shown[a] = true
				blocks = append(blocks, c.actionBlock(a))
			}
		}
	}
	if l.End != nil {
		c.shown[l.End] = true
		return append(blocks, c.endBlock(l)), nil
	}
	return blocks, tea.Sequence(c.live.begin(l), c.look(l))
}
