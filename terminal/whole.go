package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

// everything shows the run with all that the conversation leaves out: reasoning, whole
// arguments, whole results.
func (c *conversation) everything() tea.Cmd {
	if c.runID == 0 {
		return c.noRun()
	}
	ref := rpc.RunRef{Run: c.run, Project: c.o.project}
	return c.ask(func(ctx context.Context) tea.Msg {
		thought, err := c.reasoning(ctx, ref)
		return shows{func(c *conversation) tea.Cmd {
			return c.over(&pager{title: "run " + c.run, by: "ctrl+o", text: func(width int) string {
				text := c.wholeText(thought, width)
				if err != nil {
					text = c.p.bad.Render("! reasoning is missing: "+show.Line(err.Error())) + "\n" + text
				}
				return text
			}})
		}}
	})
}

// reasoning reads what the model thought, by turn: the journal's rows do not carry it.
func (c *conversation) reasoning(ctx context.Context, ref rpc.RunRef) (map[int]string, error) {
	thought := map[int]string{}
	for offset := 0; ; {
		page, err := c.cl.Entries(ctx, rpc.EntriesParams{Run: ref.Run, Project: ref.Project, Pattern: "assistant://*", Offset: offset})
		if err != nil {
			return thought, err
		}
		for _, e := range page.Entries {
			turn, is := sdk.ParseReplyPath(e.Path)
			if r, err := sdk.ReplyOf(e.Attributes); is && err == nil {
				thought[turn] = strings.TrimSpace(r.Reasoning)
			}
		}
		if page.Next == 0 {
			return thought, nil
		}
		offset = page.Next
	}
}

// wholeText draws the run, as far as its rows were told.
func (c *conversation) wholeText(thought map[int]string, width int) string {
	var b strings.Builder
	block := func(text string) { b.WriteString(text + "\n") }
	for _, l := range c.line.Loops {
		block(c.p.draw(append(show.Prompt(l.Prompt, l.Sequence, false, width), show.Media(l.Media, width)...)))
		for _, t := range l.Turns {
			if text := thought[t.Number]; text != "" {
				for _, line := range folded(harmless(text), width-2) {
					block(c.p.dim.Render("  " + line))
				}
			}
			if text := strings.TrimSpace(t.Text); text != "" {
				block(c.md.render(text, width, c.back))
			}
			for _, a := range t.Actions {
				block(c.wholeAction(a, width))
			}
		}
		if l.End != nil {
			block(show.End(l, "", "").Draw(c.p.paint))
		}
		block("")
	}
	return strings.TrimRight(b.String(), "\n")
}

// wholeAction is a call with its arguments and its result, of which nothing is left out.
func (c *conversation) wholeAction(a *timeline.Action, width int) string {
	whole := a.Action
	if !a.State.Ended() {
		whole.Body = a.Streamed[1] + a.Streamed[2]
	}
	lines := show.Action(&whole, show.View{})
	if len(lines) == 0 {
		return ""
	}
	if !a.IsError() {
		lines[0] = show.Action(&whole, show.View{Width: width})[0]
		if long := longArguments(a.Arguments, width-show.Width(a.Tool)-3); long != nil {
			lines = slices.Concat(lines[:1], long, []show.Spans{{{Style: show.Dim, Text: "  result:"}}}, lines[1:])
		}
	}
	return c.p.draw(lines)
}

// longArguments are the arguments of a call by their names, where they are longer than
// the line of the call shows.
func longArguments(raw json.RawMessage, room int) (lines []show.Spans) {
	names, values, ok := show.Members(raw)
	if about := show.Arguments(raw); !ok || show.Width(about) <= room && !strings.Contains(about, "…") && !strings.Contains(about, `\n`) {
		return nil
	}
	for i, name := range names {
		text := string(values[i])
		var plain string
		if json.Unmarshal(values[i], &plain) == nil {
			text = plain
		}
		lines = append(lines, show.Spans{{Style: show.Dim, Text: "  " + show.Line(name) + ":"}})
		lines = append(lines, show.Body(text, show.View{})...)
	}
	return lines
}
