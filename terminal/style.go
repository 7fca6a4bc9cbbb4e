package main

import (
	"os"

	"charm.land/lipgloss/v2"
)

// palette are the colours of the sixteen that every terminal has, so that its own theme
// chooses them; with NO_COLOR only weight is left.
type palette struct {
	plain, dim, bold, prompt, tool, good, bad, ask, code lipgloss.Style
}

func newPalette() palette {
	s := lipgloss.NewStyle()
	bold := s.Bold(true)
	if os.Getenv("NO_COLOR") != "" {
		return palette{plain: s, dim: s.Faint(true), bold: bold, prompt: bold, tool: bold, good: s, bad: bold, ask: bold, code: s}
	}
	return palette{
		plain: s, dim: s.Faint(true), bold: bold,
		prompt: bold.Foreground(lipgloss.Cyan), tool: bold.Foreground(lipgloss.Blue),
		good: s.Foreground(lipgloss.Green), bad: s.Foreground(lipgloss.Red), ask: bold.Foreground(lipgloss.Yellow), code: s.Foreground(lipgloss.Cyan),
	}
}
