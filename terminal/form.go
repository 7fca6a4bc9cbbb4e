package main

import (
	"encoding/json"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// form is an answer to a plugin's question that is typed, one field after the other.
type form struct {
	fields []sdk.Field
	given  map[string]json.RawMessage
	at     int
}

// field is the one that is typed now.
func (f *form) field() sdk.Field { return f.fields[f.at] }

// secret reports whether what is typed must not be shown.
func (q *question) secret() bool { return q.form != nil && q.form.field().Secret() }

// questionKey is a key that answers what a plugin asks.
func (c *conversation) questionKey(m tea.KeyPressMsg) tea.Cmd {
	q := c.open
	switch m.Keystroke() {
	case "y":
		if !c.guard.what.seen { // as the keys said that stood there
			c.tail = c.p.ask.Render("y answers when all of it was shown")
			q.details = false
			return q.toggle(c)
		}
		return c.beginForm()
	case "n":
		return c.answer(rpc.Resolve{Answer: sdk.Reject})
	case "c":
		return c.answer(rpc.Resolve{Answer: sdk.Cancel})
	case "d":
		return q.toggle(c)
	case "esc":
		return c.leaveOpen()
	}
	return c.typedEarly(m)
}

// beginForm asks for the first field, and answers at once where there is none.
func (c *conversation) beginForm() tea.Cmd {
	q := c.open
	fields, err := q.proposal.Question.Fields()
	if err != nil {
		return c.fail(err)
	}
	f := &form{fields: fields, given: map[string]json.RawMessage{}}
	if len(fields) == 0 {
		return c.answerForm(f)
	}
	q.form, q.draft = f, c.in.area.Value()
	c.in.clear()
	return nil
}

// nextField takes over what was typed for a field, and asks for the next one. What does not fit
// stays there.
func (c *conversation) nextField() tea.Cmd {
	q, f := c.open, c.open.form
	value, err := f.field().Read(c.in.text())
	if err != nil {
		c.tail = c.p.bad.Render(harmless(err.Error()))
		return nil
	}
	if value != nil {
		f.given[f.field().Name] = value
	}
	c.in.clear()
	if f.at++; f.at < len(f.fields) {
		return nil
	}
	q.form = nil
	c.in.set(q.draft)
	return c.answerForm(f)
}

func (c *conversation) answerForm(f *form) tea.Cmd {
	r, err := f.answer(c.open.proposal.Question)
	if err != nil {
		return c.fail(err)
	}
	return c.answer(r)
}

// answer is what was typed as an answer.
func (f *form) answer(q *sdk.Question) (r rpc.Resolve, err error) {
	r.Answer = sdk.Accept
	if q.Schema != nil {
		r.Data, err = json.Marshal(f.given)
	}
	return r, err
}

// formLines are the field that is typed now.
func (q *question) formLines(c *conversation) []string {
	lines := drawnLines(c, show.Field(q.form.field(), c.columns()))
	return append(lines, folded(c.p.dim.Render("  enter goes on, esc goes back"), c.columns())...)
}

// questionKeys are the keys that answer what a plugin asks.
func questionKeys(c *conversation, q *sdk.Question) []string {
	answer := "answer"
	if q.URL != "" {
		answer = "I open it"
	}
	if c.columns() < longKeys {
		return []string{"y", answer, "n", "no", "c", "skip", "d", "all", "esc", "later"}
	}
	return []string{"y", answer, "n", "no", "c", "leave it without an answer", "d", "details", "esc", "leave it open"}
}

// masked is an input of which only the length is seen, and where its cursor stands.
func masked(mark, text string) ([]string, *tea.Cursor) {
	line := mark + strings.Repeat("•", len([]rune(text)))
	return []string{line}, tea.NewCursor(show.Width(line), 0)
}
