package main

import (
	"os"

	"charm.land/lipgloss/v2"

	"github.com/bothyd/bothy/sdk/client/show"
)

// palette are the colours of the sixteen that every terminal has, so that its own theme
// chooses them; with NO_COLOR only weight is left.
type palette struct {
	plain, dim, bold, prompt, tool, good, bad, ask, code, odd lipgloss.Style
}

func newPalette() palette {
	s := lipgloss.NewStyle()
	bold := s.Bold(true)
	if os.Getenv("NO_COLOR") != "" {
		return palette{plain: s, dim: s.Faint(true), bold: bold, prompt: bold, tool: bold, good: s, bad: bold, ask: bold, code: s, odd: s.Reverse(true)}
	}
	return palette{
		plain: s, dim: s.Faint(true), bold: bold,
		prompt: bold.Foreground(lipgloss.Cyan), tool: bold.Foreground(lipgloss.Blue),
		good: s.Foreground(lipgloss.Green), bad: s.Foreground(lipgloss.Red), ask: bold.Foreground(lipgloss.Yellow), code: s.Foreground(lipgloss.Cyan),
		odd: s.Reverse(true),
	}
}

// paint is what a style of a drawing looks like here.
func (p palette) paint(s show.Style, text string) string {
	switch s {
	case show.Dim:
		return p.dim.Render(text)
	case show.Bold:
		return p.bold.Render(text)
	case show.Name:
		return p.tool.Render(text)
	case show.Good:
		return p.good.Render(text)
	case show.Bad:
		return p.bad.Render(text)
	case show.Ask:
		return p.ask.Render(text)
	case show.Code:
		return p.code.Render(text)
	case show.Odd:
		return p.odd.Render(text)
	}
	return text
}

// draw is lines as the terminal gets them, without the end of the last.
func (p palette) draw(lines []show.Spans) string {
	drawn := show.Draw(lines, p.paint)
	return drawn[:max(0, len(drawn)-1)]
}
