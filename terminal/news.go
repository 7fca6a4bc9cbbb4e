package main

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/timeline"
)

// row takes in a row of the journal and prints what it finished.
func (c *conversation) row(row sdk.JournalRow) tea.Cmd {
	c.seq = row.Seq
	change := c.tree.Take(row)
	if c.runID != 0 && row.Run != c.runID {
		return c.child(change)
	}
	c.line = c.tree.Run(row.Run)
	if row.Kind == sdk.KindRunRenamed {
		c.renamed(row)
	}
	c.live.calls.take(row, change.Action)
	c.own.note(change.Action)
	if c.behind {
		return nil
	}
	return tea.Sequence(c.news(row, change)...)
}

// child takes in what came of delegated work: the call that it is for says how far that is, and what waits there is
// asked.
func (c *conversation) child(change timeline.Change) tea.Cmd {
	top := c.tree.Top(change.Loop)
	if c.behind || top == nil || top == change.Loop { // a later prompt to a child is the child's own
		return nil
	}
	return c.look(top)
}

// past takes in rows that were there when the run was entered. Those that came between
// its beginning and that are news.
func (c *conversation) past(rows []sdk.JournalRow) tea.Cmd {
	var cmds []tea.Cmd
	for _, row := range rows {
		cmds = append(cmds, c.row(row))
	}
	return tea.Sequence(cmds...)
}

// news are the blocks that a row finished, and what begins with it.
func (c *conversation) news(row sdk.JournalRow, change timeline.Change) (cmds []tea.Cmd) {
	if l := change.Loop; takenLoop(l) { // it stands in the input again, or nowhere
		c.unqueue(l.ID)
		return nil
	}
	if l := change.Loop; l != nil && !l.Began.IsZero() && !c.shown[l] {
		c.shown[l] = true
		c.unqueue(l.ID)
		cmds = append(cmds, c.say(c.promptBlock(l)), c.live.begin(l))
	}
	if t := change.Turn; change.Reply && t != nil && !c.shown[replyOf(t)] {
		c.shown[replyOf(t)] = true
		cmds = append(cmds, c.live.reply(c, t))
	}
	if row.Kind == sdk.KindTurnClosed {
		cmds = append(cmds, c.readContext())
	}
	if a := change.Action; a != nil && a.State.Ended() && !c.shown[a] {
		c.shown[a] = true
		cmds = append(cmds, c.say(c.actionBlock(a)))
	}
	if note := noteText(row); note != "" {
		cmds = append(cmds, c.say(c.p.dim.Render("  "+show.Line(note))))
	}
	if l := change.Loop; l != nil {
		cmds = append(cmds, c.look(l))
		if l.End != nil && !c.shown[l.End] { // rows of what is undone later come behind it
			c.shown[l.End] = true
			if c.live.loop == l {
				c.live.end()
			}
			if row.Kind == sdk.KindLoopEnded { // rows of it come later, too: what was taken back
				cmds = append(cmds, c.say(c.endBlock(l)), c.notify("done"))
			}
		}
	}
	return cmds
}

// reply is what a turn said. Where the model was asked again it may be another.
type reply struct {
	turn *timeline.Turn
	text string
}

func replyOf(t *timeline.Turn) reply { return reply{t, strings.TrimSpace(t.Text)} }

// takenLoop reports whether a prompt was taken back before any work on it.
func takenLoop(l *timeline.Loop) bool { return l != nil && l.End != nil && l.End.Stop == sdk.StopTaken }
