package main

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// ruleLines are the rules that an answer could leave, whole, behind their keys; without
// those while they do not count.
func (c *conversation) ruleLines(p sdk.Proposal, width int, keys bool) []string {
	var all []show.Spans
	for i, o := range p.Offers {
		key := " "
		if keys {
			key = strconv.Itoa(i + 1)
		}
		all = append(all, show.Flow(show.Spans{{Style: show.Plain, Text: "    "}, {Style: show.Ask, Text: key}, {Style: show.Plain, Text: " "}}, o.Text, "      ", width, show.Plain)...)
	}
	return drawnLines(c, all)
}

// rules has a rule chosen. The details stand above where they fit and not all of what would
// run is shown without them: no rule could be taken else.
func (q *question) rules(c *conversation) {
	q.always = len(q.proposal.Offers) > 0
	if !q.always || q.seen(c) {
		return
	}
	before := q.details
	q.details = true
	q.details = q.seen(c) || before
}

// ruleKey is a key while a rule is chosen.
func (c *conversation) ruleKey(m tea.KeyPressMsg) tea.Cmd {
	q, key := c.open, m.Keystroke()
	if n, err := strconv.Atoi(key); err == nil && n >= 1 && n <= len(q.proposal.Offers) {
		return c.letRun(rpc.Resolve{Answer: sdk.Accept, Remember: q.proposal.Offers[n-1].Remember})
	}
	switch key {
	case "esc":
		q.always = false
		return nil
	case "d":
		return q.page(c)
	}
	return c.typedEarly(m)
}

// letRun gives an answer that lets it run. Where it is not what it claims, nothing does;
// where not all of it was shown, also of the rules where one is chosen, that comes first.
func (c *conversation) letRun(r rpc.Resolve) tea.Cmd {
	q := c.open
	if bad := show.Unfit(q.proposal); bad != "" {
		c.tail = c.p.bad.Render(bad)
		return nil
	}
	if c.guard.what.seen { // as the keys said that stood there
		return c.answer(r)
	}
	if q.always {
		c.tail = c.p.ask.Render("it runs when all of it was shown, and of its rules")
		return q.page(c)
	}
	c.tail = c.p.ask.Render("y runs it when all of it was shown")
	q.details = false
	return q.toggle(c)
}

// seen reports whether all of what would run was shown, and of the rules where one is
// chosen: nothing else is let run.
func (q *question) seen(c *conversation) bool {
	whole := q.short(c).whole
	fits := c.fits(q.with(c, q.allKeys(c)))
	if q.always {
		return q.ruled || (q.read || whole || q.details) && fits
	}
	return q.read || (whole || q.details) && fits
}

// toggle shows the details, or what stood there before. Those that do not fit on the
// screen are shown in a pager, whose end has to be reached.
func (q *question) toggle(c *conversation) tea.Cmd {
	q.details = !q.details
	if !q.details || c.fits(q.lines(c)) {
		return nil
	}
	q.details = false
	return q.page(c)
}

// page shows all of it in a pager, with the rules where one is chosen.
func (q *question) page(c *conversation) tea.Cmd {
	q.paged = true
	always := q.always
	return c.over(&pager{title: "what would run", by: "d",
		text: func(width int) string {
			lines := drawnLines(c, show.Details(q.proposal, width, false))
			if always {
				lines = append(append(lines, c.p.ask.Render("  From now on, in this project:")), c.ruleLines(q.proposal, width, true)...)
			}
			return strings.Join(lines, "\n")
		},
		end: func() { q.read, q.ruled = true, q.ruled || always },
	})
}

// drawnLines are lines as the terminal gets them, one by one.
func drawnLines(c *conversation, lines []show.Spans) []string {
	return strings.Split(c.p.draw(lines), "\n")
}
