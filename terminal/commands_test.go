package main

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

// TestCommand: a command is one whatever blank stands behind its name, and nothing else is.
func TestCommand(t *testing.T) {
	for _, tt := range []struct {
		text, rest string
		is         bool
	}{
		{"/probe", "", true},
		{"/probe\n", "", true},
		{"/probe \n ", "", true},
		{"/probe a b\n", "a b", true},
		{"/probe\na\nb", "a\nb", true},
		{"/probe\ta", "a", true},
		{"/probe\u00a0a", "a", true},
		{" /probe", "", false},
		{"/", "", false},
		{"/\nprobe", "", false},
		{"/probes", "", false},
	} {
		c := alone(t, 80, 24)
		before, rest := commands, ""
		commands = append(commands[:len(commands):len(commands)], slash{name: "probe", do: func(_ *conversation, got string) tea.Cmd {
			rest = got
			return nil
		}})
		_, is := c.command(tt.text)
		if commands = before; is != tt.is || rest != tt.rest {
			t.Errorf("%q: %v with %q", tt.text, is, rest)
		}
	}
}
