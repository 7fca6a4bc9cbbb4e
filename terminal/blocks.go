package main

import (
	"encoding/json"
	"os"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/timeline"
)

// promptBlock is what the person asked.
func (c *conversation) promptBlock(l *timeline.Loop) string {
	return "\n" + c.p.draw(append(show.Prompt(l.Prompt, l.Sequence, false, c.columns()), show.Media(l.Media, c.columns())...))
}

// textBlock is a text of the model.
func (c *conversation) textBlock(text string) string { return c.md.render(text, c.columns(), c.back) }

// callLine is a call in a line.
func (c *conversation) callLine(a *timeline.Action) string {
	return show.Call(&a.Action, c.columns()).Draw(c.p.paint)
}

// actionBlock is a call with what came of it.
func (c *conversation) actionBlock(a *timeline.Action) string {
	if a.Person {
		return c.ownBlock(a)
	}
	return c.p.draw(show.Action(&a.Action, show.View{Width: c.columns(), Head: show.ResultHead, Tail: show.ResultTail}))
}

// endBlock says how a prompt ended, and what it took.
func (c *conversation) endBlock(l *timeline.Loop) string {
	told := ""
	for _, a := range l.Actions() {
		if a.IsError() {
			told = strings.TrimSpace(a.Body)
		}
	}
	return wrapped(show.End(l, told, "").Draw(c.p.paint), c.columns(), "  ")
}

// noteText is what the engine says of its own work.
func noteText(row sdk.JournalRow) string {
	var d struct{ Message string }
	_ = json.Unmarshal(row.Data, &d) // without a reason it is told without one
	switch row.Kind {
	case sdk.KindNoteRetry:
		return "the model is asked again: " + d.Message
	case sdk.KindNoteFallback:
		return d.Message
	}
	return ""
}

// harmless is a text of others, harmless, with tabs as wide as Markdown has them.
func harmless(text string) string { return show.Tabs(show.Text(text), 4) }

// wrapped breaks a text into lines of a width, those after the first behind an indent.
func wrapped(text string, width int, indent string) string {
	drawn := lipgloss.NewStyle().Width(max(width, narrow) - len(indent)).Render(text)
	lines := strings.Split(drawn, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
		if i > 0 {
			lines[i] = indent + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}

// home is a path as people write it.
func home(path string) string {
	dir, err := os.UserHomeDir()
	if rest, below := strings.CutPrefix(path, dir+"/"); err == nil && below {
		return "~/" + rest
	}
	return path
}
