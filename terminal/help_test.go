package main

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk/client/show"
)

// TestHelpFits: the help has no line that is wider than the terminal, and all groups.
func TestHelpFits(t *testing.T) {
	for _, width := range []int{40, 60, 80, 120} {
		c := alone(t, 80, 24)
		c.width = width
		c.in.useVi(true)
		help := c.helpText()
		for _, line := range strings.Split(help, "\n") {
			if plain := show.Width(show.Output(line)); plain > c.columns() {
				t.Errorf("in %d columns a line has %d: %q", width, plain, line)
			}
		}
		for _, text := range []string{"sending", "beginnings", "menu", "typed before", "editing", "screen", "vi", "commands", "/keys", "ctrl-r"} {
			if !strings.Contains(help, text) {
				t.Errorf("in %d columns it has no %q", width, text)
			}
		}
	}
}
