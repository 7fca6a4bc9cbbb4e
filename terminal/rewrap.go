package main

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// rewraps reports whether the terminal breaks its lines anew when it becomes narrower, as most
// do, and xterm, GNU screen and the console of Linux do not. Its name is in the environment.
func rewraps(env func(string) string) bool {
	term, program := env("TERM"), env("TERM_PROGRAM")
	switch {
	case strings.HasPrefix(term, "screen") && program != "tmux", term == "linux":
		return false
	case program == "tmux", strings.HasPrefix(term, "tmux"):
		return true
	case env("XTERM_VERSION") != "": // it may have been called from one of those below
		return false
	}
	for _, name := range []string{"VTE_VERSION", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "WT_SESSION", "ALACRITTY_WINDOW_ID"} {
		if env(name) != "" {
			return true
		}
	}
	for _, name := range []string{"xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm", "rxvt-unicode"} {
		if strings.HasPrefix(term, name) {
			return true
		}
	}
	switch program {
	case "iTerm.app", "Apple_Terminal", "WezTerm", "ghostty", "vscode":
		return true
	}
	return false
}

// frameShown is the frame that the terminal has.
type frameShown struct {
	lines  []string
	cursor *tea.Cursor
}

// rewrapped is how many rows lower the cursor stands in a frame of a terminal that has broken
// its lines for a width. Where there is no cursor Bubble Tea left it anywhere: then it is none,
// so that nothing is taken for the frame that stands above it.
func (f frameShown) rewrapped(width int) (rows int) {
	if f.cursor == nil || width < 1 {
		return 0
	}
	for _, line := range f.lines[:min(max(f.cursor.Y, 0), len(f.lines))] {
		if n := ansi.StringWidth(strings.TrimRight(ansi.Strip(line), " ")); n > width {
			rows += (n - 1) / width
		}
	}
	return rows + f.cursor.X/width
}

// overRemains has the next frame begin where the one before began. Bubble Tea counts its rows
// as they were drawn, and would leave those on the screen that came to be by the breaking.
func (c *conversation) overRemains(width int) {
	if rows := c.frame.rewrapped(width); c.o.rewraps && c.screen == nil && !c.stands && rows > 0 {
		c.out.note(fmt.Sprintf("\x1b[%dA", rows))
	}
}
