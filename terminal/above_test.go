package main

import (
	"io"
	"os"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// TestGivenAway: what gives the terminal's modes up is not held, whatever is printed and said
// before the terminal is gone, and what was said meanwhile is printed when it is back.
func TestGivenAway(t *testing.T) {
	t.Setenv("EDITOR", "true")
	for _, tt := range []struct {
		name string
		give func(c *conversation)
		back tea.Msg
	}{
		{"a shell", (*conversation).giveAway, tea.ResumeMsg{}},
		{"an editor", func(c *conversation) { press(c, "ctrl+g") }, edited{}},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c := alone(t, 80, 24)
		c.out = &output{file: w, send: func(tea.Msg) {}}
		c.say("under way")
		c.waits = append(c.waits, "waits")
		tt.give(c)
		c.Update(printDue{})
		c.Update(frameHeld{})
		c.Update(printed{})
		c.say("said then")
		const modes = "\x1b[?25h\x1b[?2004l"
		if _, err := c.out.Write([]byte(modes)); err != nil {
			t.Fatal(err)
		}
		c.Update(tt.back)
		if !c.printing || !c.out.holds {
			t.Errorf("%s: what waits is not printed when the terminal is back", tt.name)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != modes {
			t.Errorf("%s: the terminal got %q, %v", tt.name, got, err)
		}
	}
}

// TestPrintsTogether: what one Update said, and what was said before the frame is drawn, is
// printed together, since none of it stands in that frame.
func TestPrintsTogether(t *testing.T) {
	c := alone(t, 80, 24)
	c.say("one")
	c.say("two")
	c.Update(printDue{})
	c.say("three")
	c.Update(frameHeld{})
	if got := c.said(); got != "three" {
		t.Errorf("%q is left to print", got)
	}
}
