package main

import (
	"context"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

// question is a proposal that waits for the person's answer. Its keys count from the
// moment that it stands there: what was typed before answers nothing.
type question struct {
	proposal sdk.Proposal
	action   *timeline.Action
	details  bool
	always   bool // which rule is to be chosen
	writes   bool // the reason of a no is written into the input
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
		resolved rpc.Resolved
		err      error
	}
)

// look begins with what waits for an answer in a loop, and gives up what does not wait
// any more.
func (c *conversation) look(l *timeline.Loop) tea.Cmd {
	if c.open != nil && c.open.action.State != sdk.StateProposed {
		c.closeQuestion()
	}
	at := l.Waits()
	if at == nil || c.open != nil {
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
	if c.open != nil || m.action.State != sdk.StateProposed || m.proposal.State != sdk.StateProposed {
		return nil // it was answered meanwhile
	}
	c.open = &question{proposal: m.proposal, action: m.action, draft: c.in.area.Value()}
	return c.notify("asks")
}

func (c *conversation) closeQuestion() {
	if c.open != nil && c.open.writes {
		c.in.set(c.open.draft)
	}
	c.open = nil
}

// lines are the question: what would run first and whole, why it is asked, the keys.
func (q *question) lines(c *conversation) []string {
	p := q.proposal
	what := p.Command
	if what == "" {
		what = strings.TrimSpace(visibleLine(p.Tool) + " " + string(p.Arguments))
	}
	var out []string
	lines := strings.Split(wrapped(exact(what), c.columns()-4, ""), "\n")
	most := 2
	if q.details {
		most = len(lines)
	}
	for i, line := range lines {
		if i == most {
			out[len(out)-1] += c.p.ask.Render(" …" + counted(len(lines)-most, "more line", "more lines") + ": d shows it whole")
			break
		}
		lead := c.p.ask.Render("? ")
		if i > 0 {
			lead = "  "
		}
		out = append(out, lead+c.p.bold.Render(line))
	}
	out = append(out, "  "+c.p.dim.Render(cut(exact(p.Decision.Reason), c.columns()-2)))
	if q.details {
		out = append(out, c.detailLines(p)...)
	}
	switch {
	case q.sent:
		out = append(out, c.p.dim.Render("  answering"))
	case q.writes:
		out = append(out, c.p.ask.Render("  Why not? What shall be done instead? ")+c.p.dim.Render("enter tells the model, esc goes back"))
	case q.always:
		out = append(out, c.p.ask.Render("  From now on, in this project:")+c.p.dim.Render("  esc goes back"))
		out = append(out, c.offers(p)...)
	default:
		out = append(out, c.keyLines("y", "once", "a", "always", "n", "no", "r", "no, and why", "d", "details", "esc", "leave it open")...)
	}
	return out
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

// offers are the rules that an answer could leave, with the keys.
func (c *conversation) offers(p sdk.Proposal) (all []string) {
	for i, o := range p.Offers {
		all = append(all, "    "+c.p.ask.Render(strconv.Itoa(i+1))+" "+cut(exact(o.Text), c.columns()-6))
	}
	return all
}

// detailLines are what the answer is bound to.
func (c *conversation) detailLines(p sdk.Proposal) []string {
	row := func(name, text string) string { return "  " + c.p.dim.Render(name) + "  " + exact(text) }
	out := []string{row("tool", p.Tool+" of the plugin "+p.Plugin), row("directory", p.Dir), row("rule", p.Decision.Rule)}
	for _, m := range p.Mounts {
		out = append(out, row("can touch", m))
	}
	network := "none"
	if p.Network {
		network = "open"
	}
	out = append(out, row("network", network), row("proposal", p.ID+", hash "+p.Hash[:min(12, len(p.Hash))]))
	if p.Diff != "" {
		for _, line := range strings.Split(strings.TrimRight(output(p.Diff), "\n"), "\n") {
			out = append(out, "  "+c.diffHue(line).Render(cut(line, c.columns()-2)))
		}
	}
	return out
}

// answerKey is a key while a question stands there.
func (c *conversation) answerKey(m tea.KeyPressMsg) tea.Cmd {
	q := c.open
	if q.sent {
		return nil
	}
	key := m.Keystroke()
	switch {
	case q.writes:
		return c.reasonKey(m)
	case q.always:
		return c.ruleKey(key)
	}
	switch key {
	case "y":
		return c.answer(rpc.Resolve{Answer: sdk.Accept})
	case "n":
		return c.answer(rpc.Resolve{Answer: sdk.Reject})
	case "a":
		q.always = len(q.proposal.Offers) > 0
	case "r":
		q.writes, q.draft = true, c.in.area.Value()
		c.in.clear()
	case "d":
		q.details = !q.details
	case "esc":
		c.open = nil
		return c.say(c.p.dim.Render("  left open; /answer asks again, and so does `bothy proposals`"))
	}
	return nil
}

func (c *conversation) ruleKey(key string) tea.Cmd {
	q := c.open
	if n, err := strconv.Atoi(key); err == nil && n >= 1 && n <= len(q.proposal.Offers) {
		return c.answer(rpc.Resolve{Answer: sdk.Accept, Remember: q.proposal.Offers[n-1].Remember})
	}
	if key == "esc" {
		q.always = false
	}
	return nil
}

func (c *conversation) reasonKey(m tea.KeyPressMsg) tea.Cmd {
	q := c.open
	switch m.Keystroke() {
	case "esc":
		q.writes = false
		c.in.set(q.draft)
		return nil
	case "enter":
		reason := strings.TrimSpace(c.in.text())
		c.in.clear()
		c.in.set(q.draft)
		q.writes = false
		return c.answer(rpc.Resolve{Answer: sdk.Reject, Reason: reason})
	}
	var cmd tea.Cmd
	c.in.area, cmd = c.in.area.Update(m)
	return cmd
}

// answer answers with the hash of what was shown.
func (c *conversation) answer(r rpc.Resolve) tea.Cmd {
	c.open.sent = true
	r.ID, r.Hash = c.open.proposal.ID, c.open.proposal.Hash
	return c.ask(func(ctx context.Context) tea.Msg {
		resolved, err := c.cl.Resolve(ctx, r)
		return answered{resolved, err}
	})
}

// took is the end of an answer. What it did is told by the journal.
func (c *conversation) took(m answered) tea.Cmd {
	c.closeQuestion()
	if m.err != nil {
		return c.fail(m.err)
	}
	if r := m.resolved.Rule; r != nil {
		return c.say(c.p.dim.Render("  remembered as rule " + visibleLine(r.ID) + "; `bothy policy forget " + visibleLine(r.ID) + "` removes it"))
	}
	return nil
}

// exact shows every character of a text of which an answer depends: what does not show as
// itself is shown as what it is.
func exact(text string) string { return visible(text) }
