package main

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/timeline"
)

// question is a proposal that waits for the person's answer. The guard says when its keys
// count.
type question struct {
	proposal sdk.Proposal
	action   *timeline.Action
	details  bool
	read     bool  // all of the details was shown in a pager
	ruled    bool  // and all of the rules
	paged    bool  // they are shown there
	always   bool  // which rule is to be chosen
	writes   bool  // the reason of a no is written into the input
	edits    bool  // what would run is changed in the input
	form     *form // what a plugin asks for is typed into the input
	sent     bool  // an answer is under way
	draft    string
	brief    brief
}

// brief is a question at its shortest as it was drawn last. It is looked at with each message
// and each frame, and what would change may be long.
type brief struct {
	width, most int
	lines       []show.Spans
	whole       bool // as show.Question has it
}

// short draws the question at its shortest, unless it has it.
func (q *question) short(c *conversation) brief {
	if width, most := c.columns(), q.room(c); q.brief.width != width || q.brief.most != most {
		lines, whole := show.Question(q.proposal, width, most)
		q.brief = brief{width, most, lines, whole}
	}
	return q.brief
}

// asked is a proposal that was read.
type asked struct {
	action   *timeline.Action
	proposal sdk.Proposal
	err      error
}

// look begins with what waits for an answer in a loop and in work that it delegated, unless the person left it open, and
// gives up what does not wait any more.
func (c *conversation) look(l *timeline.Loop) tea.Cmd {
	if c.open != nil && c.open.action.State != sdk.StateProposed {
		c.closeQuestion()
	}
	waiting := c.tree.Waiting(l)
	next := slices.IndexFunc(waiting, func(a *timeline.Action) bool {
		if c.open != nil {
			return a == c.open.action
		}
		return !c.leftOpen[a.ProposalID()]
	})
	if next < 0 {
		return nil
	}
	at := waiting[next]
	if c.open != nil && (c.open.sent || at.Proposal == nil || !c.open.another(at.Proposal.ID, at.Proposal.Hash)) {
		return nil
	}
	return c.ask(func(ctx context.Context) tea.Msg { return c.readProposal(ctx, at, at.ProposalID()) })
}

func (c *conversation) readProposal(ctx context.Context, at *timeline.Action, id string) asked {
	p, err := c.cl.Proposal(ctx, id)
	return asked{at, p, err}
}

// another reports whether a proposal was changed since it was read.
func (q *question) another(id, hash string) bool {
	return q.proposal.ID == id && q.proposal.Hash != hash
}

func (c *conversation) question(m asked) tea.Cmd {
	if m.err != nil {
		return c.fail(m.err)
	}
	if c.leftOpen[m.proposal.ID] || !m.waits() {
		return nil // it was answered meanwhile, or left open
	}
	if q := c.open; q != nil {
		if q.sent || !q.another(m.proposal.ID, m.proposal.Hash) {
			return nil
		}
		c.open = &question{proposal: m.proposal, action: m.action, details: q.details, writes: q.writes, edits: q.edits, draft: q.draft}
		return c.saysChanged()
	}
	c.open = &question{proposal: m.proposal, action: m.action, draft: c.in.area.Value()}
	return c.notify("asks")
}

// waits reports whether it is to be answered still.
func (m asked) waits() bool {
	return m.err == nil && m.action.State == sdk.StateProposed && m.proposal.State == sdk.StateProposed
}

// saysChanged says that what is asked is not what was asked before.
func (c *conversation) saysChanged() tea.Cmd {
	return c.say(wrapped(c.p.ask.Render("  somebody else changed what is asked")+c.p.dim.Render(": it stands below as it is now"), c.columns(), "  "))
}

func (c *conversation) closeQuestion() {
	if c.open != nil && c.open.typing() {
		c.in.set(c.open.draft)
	}
	c.open = nil
}

// typing reports whether keys go into the input.
func (q *question) typing() bool { return q.writes || q.edits || q.form != nil }

// lines are the question: what would run first and whole, why it is asked, the keys.
func (q *question) lines(c *conversation) []string { return q.with(c, q.keys(c)) }

// with are the lines with some keys below them.
func (q *question) with(c *conversation, keys []string) []string {
	p := q.proposal
	var out []string
	if q.details {
		out = drawnLines(c, show.Details(p, c.columns(), false))
	} else {
		out = drawnLines(c, q.short(c).lines)
	}
	switch {
	case q.sent:
		out = append(out, c.p.dim.Render("  answering"))
	case q.writes:
		out = append(out, c.p.ask.Render("  Why not? What shall be done instead? ")+c.p.dim.Render("enter tells the model, esc goes back"))
	case q.form != nil:
		out = append(out, q.formLines(c)...)
	case q.edits:
		out = append(out, c.p.ask.Render("  What shall run? ")+c.p.dim.Render("enter asks again where it has to, esc goes back"))
	case q.always:
		out = append(out, folded(c.p.ask.Render("  From now on, in this project:")+c.p.dim.Render("  esc goes back"), c.columns())...)
		out = append(out, c.ruleLines(p, c.columns(), c.guard.counts)...)
	default:
		out = append(out, c.answerKeys(keys...)...)
	}
	return out
}

// mostLines is how many lines a question has before its details.
const mostLines = 5

// room is how many lines of what would run a question has: the rest are why it is asked,
// and the keys.
func (q *question) room(c *conversation) int {
	return max(mostLines-1-len(c.keyLines(q.allKeys(c)...)), 1)
}

// keys are what an answer is given with. What was not shown whole y shows first, as d does.
func (q *question) keys(c *conversation) []string {
	keys := q.allKeys(c)
	if q.seen(c) {
		return keys
	}
	keys[1] = "shows all first"
	if c.columns() < longKeys {
		keys[1] = "all first"
	}
	at := slices.Index(keys, "d")
	return slices.Delete(keys, at, at+2)
}

// longKeys is how many columns a terminal has from which on keys are said in several words.
const longKeys = 60

// allKeys are the keys of the question when all of it was shown.
func (q *question) allKeys(c *conversation) []string {
	if q.proposal.Question != nil {
		return questionKeys(c, q.proposal.Question)
	}
	return onceKeys(c)
}

// onceKeys are the keys of a question of which all was shown: no others take more room.
func onceKeys(c *conversation) []string {
	if c.columns() < longKeys {
		return []string{"y", "once", "a", "always", "n", "no", "r", "why", "e", "edit", "d", "all", "esc", "later"}
	}
	return []string{"y", "once", "a", "always", "n", "no", "r", "no, and why", "e", "edit", "d", "details", "esc", "leave it open"}
}

// keyLines are keys with what they do, in as many lines as they need.
func (c *conversation) keyLines(pairs ...string) (lines []string) {
	line := ""
	for i := 0; i < len(pairs); i += 2 {
		next := c.p.ask.Render(pairs[i]) + " " + pairs[i+1]
		if line != "" && lipgloss.Width(line)+2+lipgloss.Width(next) > c.columns()-2 {
			lines, line = append(lines, "  "+line), ""
		}
		if line != "" {
			line += "  "
		}
		line += next
	}
	return append(lines, "  "+line)
}
