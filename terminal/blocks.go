package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/timeline"
)

// resultHead and resultTail are how many lines of a result are shown: its beginning, and
// its end, where what matters of a test run stands.
const (
	resultHead = 6
	resultTail = 8
)

// promptBlock is what the person asked.
func (c *conversation) promptBlock(l *timeline.Loop) string {
	text := visible(strings.TrimSpace(l.Prompt))
	return "\n" + c.p.prompt.Render("> ") + wrapped(text, c.columns()-2, "  ")
}

// textBlock is a text of the model.
func (c *conversation) textBlock(text string) string { return c.md.render(text, c.columns(), c.dark) }

// callLine is a call in a line.
func (c *conversation) callLine(a *timeline.Action) string {
	head := c.p.tool.Render(visibleLine(a.Tool))
	return "• " + head + " " + cut(visibleLine(argumentsLine(a)), c.columns()-lipgloss.Width(head)-4)
}

// argumentsLine is what a call is about: of a command its line, of one argument its
// value.
func argumentsLine(a *timeline.Action) string {
	var all map[string]any
	if json.Unmarshal(a.Arguments, &all) != nil {
		return string(a.Arguments)
	}
	for _, name := range []string{"command", "path", "pattern", "url", "query", "name"} {
		if text, is := all[name].(string); is {
			return text
		}
	}
	if len(all) == 0 {
		return ""
	}
	return string(a.Arguments)
}

// actionBlock is a call with what came of it.
func (c *conversation) actionBlock(a *timeline.Action) string {
	if a.IsError() {
		return c.p.bad.Render("! ") + wrapped(visible(strings.TrimSpace(a.Body)), c.columns()-2, "  ")
	}
	mark := c.p.good.Render("✓")
	if a.State != sdk.StateResolved {
		mark = c.p.bad.Render("✗")
	}
	lines := []string{mark + strings.TrimPrefix(c.callLine(a), "•")}
	body := strings.TrimRight(output(a.Body), "\n")
	hue := func(string) lipgloss.Style { return c.p.dim }
	if isDiff(body) {
		hue = c.diffHue
	}
	if body != "" {
		for _, line := range headAndTail(strings.Split(body, "\n")) {
			lines = append(lines, c.p.dim.Render("  │ ")+hue(line).Render(cut(line, c.columns()-4)))
		}
	}
	if a.State != sdk.StateResolved && a.Error != "" && !strings.Contains(a.Body, a.Error) {
		lines = append(lines, "  "+c.p.bad.Render(cut(visibleLine(a.Error), c.columns()-2)))
	}
	return strings.Join(lines, "\n")
}

// headAndTail leaves the middle of a long result out, never of a short one.
func headAndTail(lines []string) []string {
	if len(lines) <= resultHead+resultTail+1 {
		return lines
	}
	left := len(lines) - resultHead - resultTail
	out := append([]string{}, lines[:resultHead]...)
	out = append(out, fmt.Sprintf("… %d more lines", left))
	return append(out, lines[len(lines)-resultTail:]...)
}

func isDiff(text string) bool {
	return strings.Contains(text, "\n@@ ") || strings.HasPrefix(text, "@@ ")
}

func (c *conversation) diffHue(line string) lipgloss.Style {
	switch {
	case strings.HasPrefix(line, "+"):
		return c.p.good
	case strings.HasPrefix(line, "-"):
		return c.p.bad
	case strings.HasPrefix(line, "@@"):
		return c.p.code
	}
	return c.p.plain
}

// endBlock says how a prompt ended, in one line; of a good end only what it took.
func (c *conversation) endBlock(l *timeline.Loop) string {
	usage := l.Usage()
	took := brief(l.Last.Sub(l.Began))
	if usage.Total > 0 {
		took += ", " + thousands(usage.Total) + " tokens"
	}
	if l.End.Status == sdk.StatusOK {
		return c.p.dim.Render("  " + took)
	}
	reason := l.End.Reason
	if reason == "" {
		reason = fmt.Sprintf("it ended with status %d", l.End.Status)
	}
	return c.p.bad.Render("  ■ ") + wrapped(visible(reason), c.columns()-4, "    ") + c.p.dim.Render(" ("+took+")")
}

// noteText is what the engine says of its own work.
func noteText(row sdk.JournalRow) string {
	if row.Kind != sdk.KindNoteRetry {
		return ""
	}
	var d struct{ Message string }
	_ = json.Unmarshal(row.Data, &d) // without a reason it is told without one
	return "the model is asked again: " + d.Message
}

// wrapped breaks a text into lines of a width, those after the first behind an indent.
func wrapped(text string, width int, indent string) string {
	drawn := lipgloss.NewStyle().Width(max(width, 20)).Render(text)
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
