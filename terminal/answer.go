package main

import (
	"cmp"
	"context"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

type (
	// answered is what became of an answer.
	answered struct {
		given    rpc.Resolve // another proposal may be open by now
		resolved rpc.Resolved
		err      error
	}
	// answerRefused is an answer that was not taken, and the proposal as it is now.
	answerRefused struct {
		answer answered
		now    asked
	}
)

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
	case q.proposal.Question != nil:
		return c.questionKey(m)
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
		return c.leaveOpen()
	default:
		return c.typedEarly(m)
	}
	return nil
}

// leaveOpen leaves the question to be answered later. Another one that waits is asked then.
func (c *conversation) leaveOpen() tea.Cmd {
	if c.leftOpen == nil {
		c.leftOpen = map[string]bool{}
	}
	c.leftOpen[c.open.proposal.ID] = true
	c.open = nil
	said := c.say(c.p.dim.Render("  left open; /answer asks again, and so does `bothy proposals`"))
	if l := c.live.loop; l != nil {
		return tea.Sequence(said, c.look(l))
	}
	return said
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
		q.writes, q.edits, q.form = false, false, nil
		c.in.clear()
		c.in.set(q.draft)
		return nil
	case "enter":
		if q.form != nil {
			return c.nextField()
		}
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

// answer answers with the hash of what was shown: by it a daemon that was started again, since
// the one before died, takes no answer twice.
func (c *conversation) answer(r rpc.Resolve) tea.Cmd {
	c.open.sent = true
	r.ID, r.Hash = c.open.proposal.ID, c.open.proposal.Hash
	gives := sync.OnceValue(func() tea.Msg {
		resolved, err := start.Repeat(c.ctx, c.daemon, c.cl, func() (rpc.Resolved, error) { return c.cl.Resolve(c.ctx, r) })
		return answered{r, resolved, err}
	})
	c.gives = gives
	return c.ask(func(context.Context) tea.Msg { return gives() })
}

// took is the end of an answer. What it did is told by the journal.
func (c *conversation) took(m answered) tea.Cmd {
	open := c.open
	if open != nil && open.proposal.ID != m.given.ID {
		open = nil
	}
	if open != nil {
		c.closeQuestion()
	}
	if m.err != nil && open != nil {
		return c.ask(func(ctx context.Context) tea.Msg {
			return answerRefused{m, c.readProposal(ctx, open.action, m.given.ID)}
		})
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

// askAnew asks again where an answer was not taken and the proposal waits still: it may have
// been changed by somebody else. A reason is there to be given again.
func (c *conversation) askAnew(m answerRefused) tea.Cmd {
	if !m.now.waits() {
		return c.fail(m.answer.err)
	}
	why := c.fail
	if m.now.proposal.Hash != m.answer.given.Hash {
		why = func(error) tea.Cmd { return c.saysChanged() }
	}
	if c.open != nil { // a row had it asked meanwhile
		return why(m.answer.err)
	}
	cmd := tea.Sequence(why(m.answer.err), c.question(m.now))
	if reason := m.answer.given.Reason; c.open != nil && reason != "" {
		c.open.writes = true
		c.in.clear()
		c.in.set(reason)
	}
	return cmd
}
