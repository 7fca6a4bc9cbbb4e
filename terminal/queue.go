package main

import (
	"slices"

	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/timeline"
)

// queued is a prompt that waits behind others.
type queued struct {
	loop     int64
	sequence int // among the prompts of the run
	text     string
}

// enqueue has a prompt stand with those that wait. The answer to it may come behind the rows
// that tell what became of it.
func (c *conversation) enqueue(q queued) {
	if c.waiting(q.loop) && !slices.ContainsFunc(c.queue, func(other queued) bool { return other.loop == q.loop }) {
		c.queue = append(c.queue, q)
	}
}

// queueLines are the prompts that wait, a line each.
func (c *conversation) queueLines() (lines []string) {
	for _, q := range c.queue {
		lines = append(lines, c.p.dim.Render("waits: "+show.Cut(show.Line(q.text), c.columns()-28)+"  alt-up takes it back"))
	}
	return lines
}

// waiting reports whether no row told yet that a prompt was begun, or has ended.
func (c *conversation) waiting(loop int64) bool {
	return !slices.ContainsFunc(c.line.Loops, func(l *timeline.Loop) bool {
		return l.ID == loop && !l.Began.IsZero()
	})
}

// unqueue takes a prompt out of those that wait.
func (c *conversation) unqueue(loop int64) {
	for i, q := range c.queue {
		if q.loop == loop {
			c.queue = append(c.queue[:i:i], c.queue[i+1:]...)
			return
		}
	}
}
