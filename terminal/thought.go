package main

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

const (
	// foldedThought is how many lines of reasoning stand there while it is folded.
	foldedThought = 2
	// mostThought is how much of it is kept, in bytes.
	mostThought = 64 << 10
)

// thought is what a model reasons before it answers.
type thought struct {
	text  string // its end
	since time.Time
	said  bool // that it has ended was said
}

// add appends a piece.
func (t *thought) add(p rpc.Preview, l *timeline.Loop) {
	if p.Reasoning == "" {
		return
	}
	if t.text == "" {
		t.since = time.Now()
		if p.Whole { // it began earlier: no row came since
			t.since = l.Last
		}
	}
	t.text += p.Reasoning
	if len(t.text) > mostThought {
		t.text = strings.ToValidUTF8(t.text[len(t.text)-mostThought/2:], "")
	}
}

// end says how long it took, once it has come to its end.
func (t *thought) end(c *conversation) tea.Cmd {
	if strings.TrimSpace(t.text) == "" {
		return nil
	}
	took, again := show.Going(time.Since(t.since)), t.said
	*t = thought{said: true}
	if again {
		return nil
	}
	return c.say(c.p.dim.Render("  thought for " + took))
}

// lines are what stands below of it: its last lines, or all that fits.
func (t *thought) lines(c *conversation) []string {
	if strings.TrimSpace(t.text) == "" {
		return nil
	}
	most := foldedThought
	if c.live.unfolds {
		most = max(c.height-4, foldedThought)
	}
	var out []string
	for _, line := range strings.Split(tailOf(harmless(t.text), c.columns(), most), "\n") {
		out = append(out, c.p.dim.Render(strings.TrimRight(line, " ")))
	}
	return out
}
