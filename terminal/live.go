package main

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

// frame is the pause between two drawings of what works.
const frame = 100 * time.Millisecond

// live is what changes while a prompt is worked on.
type live struct {
	loop     *timeline.Loop
	began    time.Time
	step     int // of the spinner
	writing  writing
	thought  thought
	forming  sdk.Forming // the call that the model writes now, of the turn of writing
	replied  int         // the last turn whose reply is whole
	gap      bool        // a piece is missing: the rest comes with the row
	aborting bool
	kept
}

// kept is what stays from one prompt to the next.
type kept struct {
	ticking bool
	unfolds bool // reasoning stands there as far as it fits
	calls   calls
	context *rpc.ContextUse // nil while it is not known
}

// tick has the live part drawn anew.
type tick struct{}

func ticks() tea.Cmd { return tea.Tick(frame, func(time.Time) tea.Msg { return tick{} }) }

// begin begins with a loop.
func (l *live) begin(loop *timeline.Loop) tea.Cmd {
	ticking := l.ticking
	*l = live{loop: loop, began: loop.Began, kept: l.kept}
	l.ticking = true
	if ticking {
		return nil
	}
	return ticks()
}

func (l *live) end() { *l = live{kept: l.kept} }

func (l *live) tick(c *conversation) tea.Cmd {
	l.step++
	if l.loop == nil {
		l.ticking = false
		return nil
	}
	return tea.Batch(l.writing.settle(c, c.room()), ticks())
}

// take takes in a piece of what the model writes.
func (l *live) take(c *conversation, p rpc.Preview) tea.Cmd {
	if l.loop == nil || p.Loop != l.loop.ID || p.Turn <= l.replied { // its block stands there
		return nil
	}
	if p.Turn != l.writing.turn {
		l.writing, l.thought, l.forming = writing{turn: p.Turn}, thought{}, sdk.Forming{}
	}
	if p.Restart || p.First || p.Whole {
		l.writing.anew()
		l.thought, l.gap, l.forming = thought{said: l.thought.said}, false, sdk.Forming{}
	}
	if l.gap = l.gap || p.Dropped; l.gap {
		return nil
	}
	l.thought.add(p, l.loop)
	if n := len(p.Calls); n > 0 {
		l.forming = p.Calls[n-1]
	} else if strings.TrimSpace(p.Text) != "" {
		l.forming = sdk.Forming{}
	}
	if p.Text == "" {
		return nil
	}
	said := l.thought.end(c)
	l.writing.add(p.Text)
	if len(l.writing.lines()) == 0 { // else with the next tick
		return tea.Sequence(said, l.writing.settle(c, c.room()))
	}
	return said
}

// reply is the end of what was written: what was not printed of it is a block now.
func (l *live) reply(c *conversation, t *timeline.Turn) tea.Cmd {
	l.replied = max(l.replied, t.Number)
	var w writing
	var said tea.Cmd
	if l.writing.turn == t.Number {
		w, said = l.writing, l.thought.end(c)
	}
	l.writing, l.thought, l.gap, l.forming = writing{}, thought{}, false, sdk.Forming{}
	return tea.Sequence(said, w.whole(c, t.Text))
}

// lines are what stands above the input while a prompt is worked on, below the text.
func (l *live) lines(c *conversation) []string {
	if l.loop == nil {
		return nil
	}
	out := append(l.thought.lines(c), l.calls.lines(c)...)
	if c.open != nil {
		return out // it waits for the person
	}
	return append(append(out, c.planLines()...), l.status(c))
}

// View implements tea.Model.
func (c *conversation) View() tea.View {
	if c.screen != nil {
		return c.screenView()
	}
	below, cursor := c.below()
	if text := c.fitted(c.live.writing.lines()); c.live.loop != nil {
		below = append(text, below...)
		if cursor != nil {
			cursor.Y += len(text)
		}
	}
	if c.left {
		below, cursor = nil, nil
	}
	// What does not fit is what was written first: its block comes whole.
	all := below
	if over := len(all) - (c.height - 1); over > 0 {
		all = all[over:]
		if cursor != nil {
			if cursor.Y -= over; cursor.Y < 0 {
				cursor = nil
			}
		}
	}
	c.frame = frameShown{all, cursor}
	v := tea.NewView(strings.Join(all, "\n"))
	v.Cursor, v.ReportFocus = cursor, true
	return v
}

// below is what stands below the text that is being written.
func (c *conversation) below() (lines []string, cursor *tea.Cursor) {
	lines = append(c.own.lines(c), c.live.lines(c)...)
	switch {
	case c.sure != nil:
		lines = append(lines, c.sureLines()...)
	case c.open != nil:
		lines = append(lines, c.open.lines(c)...)
	}
	lines = append(lines, c.queueLines()...)
	if c.tail != "" {
		lines = append(lines, c.tail)
	}
	if line := c.besideLine(); line != "" {
		lines = append(lines, line)
	}
	lines = c.fitted(lines)
	if len(lines) == 1 && lines[0] == "" {
		lines = nil
	}
	types := c.sure == nil && (c.open == nil || c.open.typing())
	if types || c.in.area.Value() != "" { // what was typed as a question came stands there, too
		field, at := c.inputLines()
		if types || !c.guard.counts {
			cursor = at
		}
		if cursor != nil {
			cursor.Y += len(lines)
		}
		lines = append(lines, field...)
	}
	return lines, cursor
}

// fitted are drawn lines, broken where they are wider than the window.
func (c *conversation) fitted(lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	return folded(strings.Join(lines, "\n"), max(c.width, 1))
}

// room is how many lines of a text that is being written fit above all else.
func (c *conversation) room() int {
	lines, _ := c.below()
	return c.height - 1 - len(lines)
}

// resize draws for another size of the window.
func (c *conversation) resize(width, height int) tea.Cmd {
	w := &c.live.writing
	lines, cursor := c.below()
	total, below := len(c.fitted(w.lines()))+len(lines), 0
	if cursor != nil {
		below = len(lines) - 1 - cursor.Y
	}
	if total < c.height && c.screen == nil && c.out.stands() { // all of it stands there
		w.scrolled(total - below - height) // the cursor stays in the window, what no longer fits above it does not
	}
	c.overRemains(width)
	c.width, c.height = width, height
	c.in.area.SetWidth(width)
	c.md = markdown{}
	w.again()
	return w.settle(c, c.room())
}

// notify has the terminal tell the person who looks elsewhere.
func (c *conversation) notify(what string) tea.Cmd {
	if c.behind {
		return nil
	}
	return c.ring(c.run + " " + what)
}

// ring has the terminal tell of any run: by the bell, and by a notification of the desktop
// (OSC 9, and OSC 777 in terminals that know only that).
func (c *conversation) ring(what string) tea.Cmd {
	if c.focused {
		return nil
	}
	text := show.Line(what)
	notification := "\x1b]9;bothy: " + text + "\x1b\\"
	if strings.HasPrefix(c.o.term, "rxvt") || strings.HasPrefix(c.o.term, "foot") {
		notification = "\x1b]777;notify;bothy;" + strings.ReplaceAll(text, ";", ",") + "\x1b\\"
	}
	c.out.note("\a" + notification)
	return nil
}
