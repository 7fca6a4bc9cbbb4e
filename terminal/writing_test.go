package main

import (
	"context"
	"errors"
	"net"
	"regexp"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk/client"
)

// alone is a conversation without a daemon and without a terminal.
func alone(t *testing.T, width, height int) *conversation {
	t.Helper()
	t.Setenv("NO_COLOR", "1")
	c := newConversation(context.Background(), options{state: t.TempDir(), project: "/project"}, &client.Client{Dial: nowhere})
	c.width, c.height, c.headed = width, height, true
	return c
}

// nowhere is a way to a daemon that cannot be reached.
func nowhere(context.Context) (net.Conn, error) { return nil, errors.New("nowhere") }

// said takes what waits to be printed.
func (c *conversation) said() string {
	text := strings.Join(c.waits, "\n")
	c.waits, c.printing = nil, true
	return blanks(bare(text))
}

// bare is a drawing without its styles, with the same time whenever it was drawn.
func bare(drawn string) string {
	drawn = regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(drawn, "")
	return regexp.MustCompile(` [0-9]+s`).ReplaceAllString(drawn, " 5s")
}

// TestWriting: whatever the pieces are, whatever fits, and however often the model is asked
// again for the same text, the text is printed once and in order.
func TestWriting(t *testing.T) {
	text := strings.Join(texts, "\n\n")
	for _, room := range []int{-3, 0, 7, 1000} {
		for _, size := range []int{1, 7, 100} {
			for _, again := range []int{0, 60, 300} {
				c := alone(t, 60, 20)
				c.printing = true
				w := writing{turn: 1}
				write := func(text string) {
					for len(text) > 0 {
						n := min(size, len(text))
						w.add(text[:n])
						w.settle(c, room)
						text = text[n:]
					}
				}
				write(text[:again])
				w.anew()
				write(text)
				w.whole(c, text)
				if got, want := c.said(), blanks(bare(c.md.render(text, c.columns(), dark))); got != want {
					t.Fatalf("room %d, pieces of %d, again at %d: printed\n%s\nwant\n%s", room, size, again, got, want)
				}
			}
		}
	}
}

// TestWritingBegins: with whatever blanks a text begins, it is printed once.
func TestWritingBegins(t *testing.T) {
	for _, blank := range []string{"\u3000", "\u00a0", "\v", "\u0085", " \n\t"} {
		c := alone(t, 60, 20)
		c.printing = true
		w := writing{turn: 1}
		text := strings.Join(texts, "\n\n")
		w.add(blank)
		w.add(blank + text)
		w.settle(c, -3)
		w.whole(c, blank+blank+text)
		if got, want := c.said(), blanks(bare(c.md.render(text, c.columns(), dark))); got != want {
			t.Errorf("%q: printed\n%s\nwant\n%s", blank, got, want)
		}
	}
}

// TestWritingDiffers: where the text became another one a line says so, and the text is
// printed whole.
func TestWritingDiffers(t *testing.T) {
	c := alone(t, 60, 20)
	c.printing = true
	w := writing{turn: 1}
	w.add("One.\n\nTwo.\n\n")
	w.settle(c, 0)
	w.whole(c, "One.\n\nThree.")
	if got := c.said(); !strings.Contains(got, "Two.\n~ the model was asked again") || !strings.HasSuffix(got, "One.\nThree.") {
		t.Errorf("printed %q", got)
	}
}

// TestWritingIsBounded: of a block that does not end no more is drawn than fits.
func TestWritingIsBounded(t *testing.T) {
	for _, begin := range []string{"```\n", "", "- "} {
		c := alone(t, 60, 20)
		w := writing{turn: 1}
		w.add(begin + strings.Repeat("a line of it\n", 100_000))
		w.settle(c, 15)
		if n := len(w.lines()); n == 0 || n > c.height {
			t.Errorf("%q: %d lines", begin, n)
		}
	}
}
