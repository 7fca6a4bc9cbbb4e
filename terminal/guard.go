package main

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// guardPause is how long a question stands on the terminal before keys answer it, and how
// long no key may have come: who types on has not read it.
const guardPause = 300 * time.Millisecond

// guardEvery is how often it is looked whether keys count.
const guardEvery = guardPause / 6

// asking is what a key would answer, in the view of it that stands there.
type asking struct {
	sure    *sure
	open    *question
	details bool
	always  bool
	seen    bool   // all of it was shown: a yes says yes, and shows nothing first
	pager   *pager // its end is shown, which counts as read when it has stood there
}

// guard keeps keys from answering what nobody can have read yet.
type guard struct {
	what   asking
	turn   int  // of what is asked: a guardTick of another one comes late
	ticks  bool // one is under way
	stood  bool // the terminal has it
	since  time.Time
	counts bool // keys answer
	now    func() time.Time
}

// guardTick is when it is looked whether keys count.
type guardTick struct{ turn int }

// asks is what a key would answer now; nothing while another screen stands over it.
func (c *conversation) asks() asking {
	switch p, is := c.screen.(*pager); {
	case is && p.end != nil && c.stands && p.ended():
		return asking{pager: p}
	case c.screen != nil, c.stands: // the terminal may not be back on its own screen
	case c.sure != nil:
		return asking{sure: c.sure, seen: c.sure.seen(c)}
	case c.open != nil && !c.open.sent && !c.open.typing():
		return asking{open: c.open, details: c.open.details, always: c.open.always, seen: c.open.seen(c)}
	}
	return asking{}
}

// watch begins anew when something else is asked.
func (g *guard) watch(what asking) tea.Cmd {
	if what != g.what {
		*g = guard{what: what, turn: g.turn + 1, now: g.now}
	}
	if what == (asking{}) || g.counts || g.ticks {
		return nil
	}
	g.ticks = true
	turn := g.turn
	return tea.Tick(guardEvery, func(time.Time) tea.Msg { return guardTick{turn} })
}

// tick looks whether keys count. Written says that the terminal has the frame that was
// drawn last.
func (g *guard) tick(m guardTick, written bool) {
	if m.turn != g.turn {
		return
	}
	g.ticks = false
	switch {
	case !g.stood && written:
		g.stood, g.since = true, g.now()
	case g.stood && g.now().Sub(g.since) >= guardPause:
		g.counts = true
	}
}

// key reports whether a key answers. The next one does after another pause.
func (g *guard) key() bool {
	counts := g.counts
	g.counts, g.since = false, g.now()
	return counts
}

// Update implements tea.Model.
func (c *conversation) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch m := msg.(type) {
	case guardTick:
		c.guard.tick(m, !c.printing && (c.out == nil || c.out.stands()))
		if p := c.guard.what.pager; p != nil && c.guard.counts && !p.read {
			p.read = true
			p.end()
		}
	case tea.ResumeMsg:
		c.guard.what = asking{} // what was typed meanwhile was for the shell
		_, cmd = c.update(msg)
	default:
		_, cmd = c.update(msg)
	}
	return c, tea.Batch(cmd, c.guard.watch(c.asks()))
}

// typedEarly is a key that answers nothing: what it types goes into the input, which shows it.
// Nothing is sent of that while the question stands.
func (c *conversation) typedEarly(m tea.KeyPressMsg) tea.Cmd {
	if m.Text == "" && m.Code != tea.KeyBackspace || c.in.normal() {
		return nil
	}
	c.menu.shut()
	return c.in.key(m)
}

// answerKeys are the keys of a question once they count, in as many lines as before.
func (c *conversation) answerKeys(pairs ...string) []string {
	lines := c.keyLines(pairs...)
	if c.guard.counts {
		return lines
	}
	clear(lines)
	lines[0] = c.p.dim.Render(cut("  keys answer in a moment", c.columns()))
	return lines
}

// fits reports whether a question stands on the screen whole, with what stands below it.
func (c *conversation) fits(lines []string) bool {
	beside := 1 // the line that tells of other runs may come at any time
	below := 1 + len(c.fitted(c.queueLines())) + max(len(c.fitted(strings.Split(c.tail, "\n"))), 1) + beside
	if c.in.area.Value() != "" {
		below += c.in.area.Height()
	}
	return len(lines)+below <= c.height && widest(lines) <= c.width
}

// widest is how many columns the widest of some drawn lines takes.
func widest(lines []string) (most int) {
	for _, line := range lines {
		most = max(most, lipgloss.Width(line))
	}
	return most
}
