package main

import (
	"context"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

// pageOfRows is how many rows of the past are read at a time.
const pageOfRows = 1000

// resultLines is how much of a call's result a history shows, from its beginning and its end.
const resultLines = 20

// history is what a run was told, did and said, or one prompt of it, as text. Of one that is too
// long it has the end.
func (b *bridge) history(ctx context.Context, a address) (string, error) {
	var line timeline.Timeline
	for after := int64(0); ; {
		page, err := repeat(ctx, b, func() (rpc.JournalPage, error) {
			return b.cl.Journal(ctx, rpc.JournalParams{Run: a.run, Project: b.o.project, After: after, Limit: pageOfRows})
		})
		if err != nil {
			return "", err
		}
		for _, row := range page.Rows {
			if err := b.cl.Complete(ctx, &row); err != nil {
				return "", err
			}
			line.Take(row)
		}
		if page.Next == 0 {
			break
		}
		after = page.Next
	}
	var out strings.Builder
	found := false
	for i, l := range line.Loops {
		number := l.Sequence
		if number == 0 {
			number = i + 1
		}
		if a.part == partPrompt && number != a.prompt {
			continue
		}
		found = true
		out.WriteString(show.Draw(promptLines(l, number), nil))
		out.WriteString("\n")
	}
	if a.part == partPrompt && !found {
		return "", sdk.Errorf(sdk.NotFound, "the run %s has no prompt %d", a.run, a.prompt)
	}
	return ending(out.String(), mostOutput), nil
}

// promptLines are a prompt and the work on it.
func promptLines(l *timeline.Loop, number int) []show.Spans {
	lines := append(show.Prompt(l.Prompt, number, false, 0), show.Media(l.Media, 0)...)
	failure := "" // that stands there already
	view := show.View{Head: resultLines, Tail: resultLines}
	for _, t := range l.Turns {
		if said := strings.TrimSpace(t.Text); said != "" {
			for _, s := range strings.Split(show.Text(said), "\n") {
				lines = append(lines, show.Spans{{Style: show.Plain, Text: s}})
			}
		}
		for _, a := range t.Actions {
			lines = append(lines, show.Action(&a.Action, view)...)
			if a.IsError() {
				failure = strings.TrimSpace(a.Body)
			}
		}
	}
	if l.End != nil {
		lines = append(lines, show.End(l, failure, ""))
	}
	return lines
}

// ending is the end of a text, at most so many bytes, from a line's beginning on.
func ending(s string, most int) string {
	at := len(s) - most
	if at <= 0 {
		return s
	}
	if next := strings.IndexByte(s[at:], '\n'); next >= 0 {
		at += next + 1
	}
	return "(What was before this is left out: it is too long.)\n" + strings.ToValidUTF8(s[at:], "")
}
