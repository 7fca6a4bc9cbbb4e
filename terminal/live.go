package main

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

const (
	// frame is the pause between two drawings of what works.
	frame = 100 * time.Millisecond
	// liveLines is how much of a command's output stands below while it works.
	liveLines = 6
)

// spinner is drawn in turn while something works.
var spinner = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// live is what changes while a prompt is worked on.
type live struct {
	loop      *timeline.Loop
	began     time.Time
	step      int    // of the spinner
	text      string // of the reply that is being written
	reasoning string
	replied   int  // the last turn whose reply is whole
	gap       bool // a piece is missing: the rest comes with the row
	drawn     string
	drawnOf   string
	aborting  bool
	ticking   bool
}

// tick has the live part drawn anew.
type tick struct{}

func ticks() tea.Cmd { return tea.Tick(frame, func(time.Time) tea.Msg { return tick{} }) }

// begin begins with a loop.
func (l *live) begin(c *conversation, loop *timeline.Loop) tea.Cmd {
	ticking := l.ticking
	*l = live{loop: loop, began: loop.Began, ticking: true}
	if ticking {
		return nil
	}
	return ticks()
}

func (l *live) end() { *l = live{ticking: l.ticking} }

func (l *live) tick(c *conversation) tea.Cmd {
	l.step++
	if l.loop == nil {
		l.ticking = false
		return nil
	}
	return ticks()
}

// take takes in a piece of what the model writes.
func (l *live) take(c *conversation, p rpc.Preview) tea.Cmd {
	if l.loop == nil || p.Loop != l.loop.ID || p.Turn <= l.replied { // its block stands there
		return nil
	}
	if p.Restart || p.First || p.Whole {
		l.text, l.reasoning, l.gap = "", "", false
	}
	l.gap = l.gap || p.Dropped
	if !l.gap {
		l.text += p.Text
		l.reasoning += p.Reasoning
	}
	return nil
}

// reply is the end of what was written: it is a block now.
func (l *live) reply(t *timeline.Turn) {
	l.text, l.reasoning, l.gap, l.replied = "", "", false, max(l.replied, t.Number)
}

// status says what is done, and since when.
func (l *live) status(c *conversation) string {
	doing := "thinking"
	var working []string
	for _, a := range l.loop.Actions() {
		if !a.IsError() && a.Phase == sdk.PhaseStarted && !a.State.Ended() {
			working = append(working, show.Line(a.Tool))
		}
	}
	switch {
	case l.aborting:
		doing = "ending"
	case c.lost:
		doing = "the daemon is gone; trying again"
	case len(working) > 0:
		doing = strings.Join(working, ", ")
	case l.text != "":
		doing = "writing"
	}
	s := c.p.prompt.Render(spinner[l.step%len(spinner)]) + " " + doing + c.p.dim.Render(" "+brief(time.Since(l.began)))
	if usage := l.loop.Usage(); usage.Total > 0 {
		s += c.p.dim.Render("  " + thousands(usage.Total) + " tokens")
	}
	return s + c.p.dim.Render("  esc ends it")
}

// lines are what stands above the input while a prompt is worked on.
func (l *live) lines(c *conversation) []string {
	if l.loop == nil {
		return nil
	}
	var out []string
	if l.text != "" {
		if l.drawnOf != l.text {
			l.drawn, l.drawnOf = c.md.render(l.text, c.columns(), c.dark), l.text
		}
		out = append(out, strings.Split(l.drawn, "\n")...)
	} else if l.reasoning != "" {
		out = append(out, c.p.dim.Render(tailOf(harmless(l.reasoning), c.columns(), 2)))
	}
	for _, a := range l.loop.Actions() {
		if a.IsError() || a.Phase != sdk.PhaseStarted || a.State.Ended() {
			continue
		}
		out = append(out, c.callLine(a))
		if printed := show.Output(a.Streamed[1] + a.Streamed[2]); strings.TrimSpace(printed) != "" {
			all := strings.Split(strings.TrimRight(printed, "\n"), "\n")
			for _, line := range all[max(0, len(all)-liveLines):] {
				out = append(out, c.p.dim.Render("  │ "+show.Cut(line, c.columns()-4)))
			}
		}
	}
	if c.open != nil {
		return out // it waits for the person
	}
	return append(out, l.status(c))
}

// View implements tea.Model.
func (c *conversation) View() tea.View {
	var below []string
	below = append(below, c.live.lines(c)...)
	if c.open != nil {
		below = append(below, c.open.lines(c)...)
	}
	for _, q := range c.queue {
		below = append(below, c.p.dim.Render("waits: "+show.Cut(show.Line(q.text), c.columns()-28)+"  alt-up takes it back"))
	}
	if c.tail != "" {
		below = append(below, c.tail)
	}
	var cursor *tea.Cursor
	if c.open == nil || c.open.typing() {
		field := c.in.area.View()
		cursor = c.in.area.Cursor()
		if cursor != nil {
			cursor.Y += height(below)
		}
		below = append(below, strings.Split(field, "\n")...)
	}
	if c.left {
		below, cursor = nil, nil
	}
	// What does not fit is what was written first: its block comes whole.
	all := strings.Split(strings.Join(below, "\n"), "\n")
	if over := len(all) - (c.height - 1); over > 0 {
		all = all[over:]
		if cursor != nil {
			cursor.Y -= over
		}
	}
	v := tea.NewView(strings.Join(all, "\n"))
	v.Cursor, v.ReportFocus = cursor, true
	return v
}

func height(lines []string) int {
	n := 0
	for _, l := range lines {
		n += strings.Count(l, "\n") + 1
	}
	return n
}

// notify has the terminal tell the person who looks elsewhere.
func (c *conversation) notify(what string) tea.Cmd {
	if c.focused || c.behind {
		return nil
	}
	text := "bothy: " + show.Line(c.run) + " " + what
	return tea.Raw("\a\x1b]9;" + text + "\x1b\\")
}

// brief is a time as a person says it.
func brief(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

func thousands(n int) string {
	if n < 10_000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%dk", n/1000)
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// tailOf is the end of a text, in so many lines of a width.
func tailOf(text string, width, lines int) string {
	all := strings.Split(lipgloss.NewStyle().Width(max(width, 20)).Render(strings.TrimSpace(text)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
