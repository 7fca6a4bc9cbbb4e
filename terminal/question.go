package main

import (
	"cmp"
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

// question is a proposal that waits for the person's answer. The guard says when its keys
// count.
type question struct {
	proposal sdk.Proposal
	action   *timeline.Action
	details  bool
	read     bool // all of the details was shown in a pager
	ruled    bool // and all of the rules
	paged    bool // they are shown there
	always   bool // which rule is to be chosen
	writes   bool // the reason of a no is written into the input
	edits    bool // what would run is changed in the input
	sent     bool // an answer is under way
	draft    string
}

type (
	// asked is a proposal that was read.
	asked struct {
		action   *timeline.Action
		proposal sdk.Proposal
		err      error
	}
	// answered is what became of an answer.
	answered struct {
		id       string // of the proposal: another one may be open by now
		resolved rpc.Resolved
		err      error
	}
)

// look begins with what waits for an answer in a loop, unless the person left it open, and
// gives up what does not wait any more.
func (c *conversation) look(l *timeline.Loop) tea.Cmd {
	if c.open != nil && c.open.action.State != sdk.StateProposed {
		c.closeQuestion()
	}
	at := l.Waits()
	if at == nil || c.open != nil || at.ProposalID() == c.leftOpen {
		return nil
	}
	return c.ask(func(ctx context.Context) tea.Msg {
		p, err := c.cl.Proposal(ctx, at.ProposalID())
		return asked{at, p, err}
	})
}

func (c *conversation) question(m asked) tea.Cmd {
	if m.err != nil {
		return c.fail(m.err)
	}
	if c.open != nil || m.proposal.ID == c.leftOpen || m.action.State != sdk.StateProposed || m.proposal.State != sdk.StateProposed {
		return nil // it was answered meanwhile, or left open
	}
	c.open = &question{proposal: m.proposal, action: m.action, draft: c.in.area.Value()}
	return c.notify("asks")
}

func (c *conversation) closeQuestion() {
	if c.open != nil && c.open.typing() {
		c.in.set(c.open.draft)
	}
	c.open = nil
}

// typing reports whether keys go into the input.
func (q *question) typing() bool { return q.writes || q.edits }

// lines are the question: what would run first and whole, why it is asked, the keys.
func (q *question) lines(c *conversation) []string {
	p := q.proposal
	var out []string
	if q.details {
		out = drawnLines(c, show.Details(p, c.columns(), false))
	} else {
		lines, _ := show.Question(p, c.columns(), q.room(c))
		out = drawnLines(c, lines)
	}
	switch {
	case q.sent:
		out = append(out, c.p.dim.Render("  answering"))
	case q.writes:
		out = append(out, c.p.ask.Render("  Why not? What shall be done instead? ")+c.p.dim.Render("enter tells the model, esc goes back"))
	case q.edits:
		out = append(out, c.p.ask.Render("  What shall run? ")+c.p.dim.Render("enter asks again where it has to, esc goes back"))
	case q.always:
		out = append(out, folded(c.p.ask.Render("  From now on, in this project:")+c.p.dim.Render("  esc goes back"), c.columns())...)
		out = append(out, c.ruleLines(p, c.columns(), c.guard.counts)...)
	default:
		out = append(out, c.answerKeys(q.keys(c)...)...)
	}
	return out
}

// mostLines is how many lines a question has before its details.
const mostLines = 5

// room is how many lines of what would run a question has: the rest are why it is asked,
// and the keys.
func (q *question) room(c *conversation) int {
	return max(mostLines-1-len(c.keyLines(q.keys(c)...)), 1)
}

// keys are what an answer is given with.
func (q *question) keys(c *conversation) []string {
	if c.columns() < 60 {
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

// answerKey is a key while a question stands there. Counts says that it answers.
func (c *conversation) answerKey(m tea.KeyPressMsg, counts bool) tea.Cmd {
	q := c.open
	switch {
	case q.typing():
		return c.questionInput(m)
	case q.sent, !counts:
		return c.typedEarly(m)
	case q.always:
		return c.ruleKey(m)
	}
	switch m.Keystroke() {
	case "y":
		return c.letRun(rpc.Resolve{Answer: sdk.Accept})
	case "n":
		return c.answer(rpc.Resolve{Answer: sdk.Reject})
	case "a":
		q.rules(c)
	case "r":
		q.writes, q.draft = true, c.in.area.Value()
		c.in.clear()
	case "e":
		return c.editCall()
	case "d":
		return q.toggle(c)
	case "esc":
		c.open, c.leftOpen = nil, q.proposal.ID
		return c.say(c.p.dim.Render("  left open; /answer asks again, and so does `bothy proposals`"))
	default:
		return c.typedEarly(m)
	}
	return nil
}

// editCall puts what would run into the input.
func (c *conversation) editCall() tea.Cmd {
	q := c.open
	text, _, err := show.Editable(q.proposal)
	if err != nil {
		return c.fail(err)
	}
	if show.Text(text) != text {
		c.tail = c.p.bad.Render("it holds characters that cannot be typed: r tells the model what to do instead")
		return nil
	}
	q.edits, q.draft = true, c.in.area.Value()
	c.in.clear()
	c.in.set(text)
	return nil
}

// questionInput is a key while a reason or another call is typed.
func (c *conversation) questionInput(m tea.KeyPressMsg) tea.Cmd {
	q := c.open
	switch m.Keystroke() {
	case "esc":
		q.writes, q.edits = false, false
		c.in.clear()
		c.in.set(q.draft)
		return nil
	case "enter":
		return c.answerTyped()
	}
	var cmd tea.Cmd
	c.in.area, cmd = c.in.area.Update(m)
	return cmd
}

// answerTyped answers with what was typed. A call that cannot be made of it stays there.
func (c *conversation) answerTyped() tea.Cmd {
	q := c.open
	text := strings.TrimSpace(c.in.text())
	r := rpc.Resolve{Answer: sdk.Reject, Reason: text}
	if q.edits {
		arguments, err := show.Edited(q.proposal, text)
		if err != nil || text == "" {
			c.tail = c.p.bad.Render(harmless(cmp.Or(errText(err), "nothing would run: esc goes back, and n says no")))
			return nil
		}
		r = rpc.Resolve{Answer: sdk.Edit, Arguments: arguments}
	}
	q.writes, q.edits = false, false
	c.in.clear()
	c.in.set(q.draft)
	return c.answer(r)
}

// errText is what an error says, and nothing where there is none.
func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// answer answers with the hash of what was shown.
func (c *conversation) answer(r rpc.Resolve) tea.Cmd {
	c.open.sent = true
	r.ID, r.Hash = c.open.proposal.ID, c.open.proposal.Hash
	return c.ask(func(ctx context.Context) tea.Msg {
		resolved, err := c.cl.Resolve(ctx, r)
		return answered{r.ID, resolved, err}
	})
}

// took is the end of an answer. What it did is told by the journal.
func (c *conversation) took(m answered) tea.Cmd {
	open := c.open
	if open != nil && open.proposal.ID != m.id {
		open = nil
	}
	if open != nil {
		c.closeQuestion()
	}
	if m.err != nil {
		return c.fail(m.err)
	}
	if p := m.resolved.Proposal; p.State == sdk.StateProposed && open != nil { // it was edited, and has to be asked about as it is now
		c.open = &question{proposal: p, action: open.action, draft: c.in.area.Value()}
		return nil
	}
	if r := m.resolved.Rule; r != nil {
		return c.say(c.p.dim.Render("  remembered as rule " + show.Line(r.ID) + "; `bothy policy forget " + show.Line(r.ID) + "` removes it"))
	}
	return nil
}
