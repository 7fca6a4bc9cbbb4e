package main

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/bothyd/bothy/sdk/client/show"
)

// writing is the text of one turn while the model writes it. Blocks that have ended are
// drawn once. Those that do not fit on the screen are printed above, in order; the others
// stand below until the text is whole.
type writing struct {
	turn  int
	all   strings.Builder
	text  string   // so far, from its beginning: what all has
	above string   // how much of it was printed: what begins with it goes on behind it
	ended int      // how far its blocks have ended
	done  []stood  // those that have ended and were not printed
	last  []string // lines of the block that is being written, as it was drawn last
	fresh bool     // last is of the text as it is now
}

// stood is a block that has ended.
type stood struct {
	end   int // in the text
	lines []string
}

// mostLast is how much of a block that is being written is drawn as Markdown, in bytes. Of
// a longer one its end stands there plain.
const mostLast = 16 << 10

// anew forgets the text, and not what was printed of it: the model may write the same.
func (w *writing) anew() { *w = writing{turn: w.turn, above: w.above} }

// add appends a piece.
func (w *writing) add(piece string) {
	if w.text == "" {
		piece = strings.TrimLeftFunc(piece, unicode.IsSpace) // as whole does it
	}
	if piece != "" {
		w.all.WriteString(piece)
		w.text, w.fresh = w.all.String(), false
	}
}

// again has all of it that was not printed drawn anew: the width has changed.
func (w *writing) again() { w.ended, w.done, w.last, w.fresh = len(w.above), nil, nil, false }

// settle draws what is new, and prints the blocks that have ended and do not fit in the
// room. It is called ten times a second at most.
func (w *writing) settle(c *conversation, room int) tea.Cmd {
	var cmds []tea.Cmd
	if w.ended < len(w.above) {
		if strings.HasPrefix(w.above, w.text) && len(w.text) < len(w.above) {
			return nil // it stands above already
		}
		if !strings.HasPrefix(w.text, w.above) {
			cmds = append(cmds, w.differs(c))
		}
		w.ended = len(w.above)
	}
	for {
		n := blockEnd(w.text[w.ended:])
		if n == 0 {
			break
		}
		w.end(c, w.ended+n)
	}
	w.draw(c)
	n, lines := 0, len(w.lines())
	for n < len(w.done) && lines > room {
		lines -= len(w.done[n].lines) + 1
		n++
	}
	return tea.Sequence(append(cmds, w.move(c, n))...)
}

// move prints so many of the blocks that have ended.
func (w *writing) move(c *conversation, n int) tea.Cmd {
	if n == 0 {
		return nil
	}
	var blocks []string
	for _, d := range w.done[:n] {
		blocks = append(blocks, strings.Join(d.lines, "\n"))
	}
	text := strings.Join(blocks, "\n\n")
	if w.above != "" {
		text = "\n" + text
	}
	w.above = w.text[:w.done[n-1].end]
	w.done = append([]stood(nil), w.done[n:]...)
	return c.say(text)
}

// scrolled takes note that so many of its lines were scrolled away by a window that became
// lower: the blocks among them are printed.
func (w *writing) scrolled(lines int) {
	if w.above != "" {
		lines--
	}
	for len(w.done) > 0 && len(w.done[0].lines) <= lines {
		lines -= len(w.done[0].lines) + 1
		w.above, w.done = w.text[:w.done[0].end], w.done[1:]
	}
}

// whole prints what was not printed yet of the text, which is whole now.
func (w *writing) whole(c *conversation, text string) tea.Cmd {
	text = strings.TrimSpace(text)
	if strings.TrimSpace(w.above) == text {
		return nil
	}
	var cmds []tea.Cmd
	if !strings.HasPrefix(text, w.above) {
		cmds = append(cmds, w.differs(c))
	}
	w.text = text
	w.again()
	for w.ended < len(text) {
		n := blockEnd(text[w.ended:])
		if n == 0 {
			n = len(text) - w.ended
		}
		w.end(c, w.ended+n)
	}
	return tea.Sequence(append(cmds, w.move(c, len(w.done)))...)
}

// end draws the block that ends there.
func (w *writing) end(c *conversation, at int) {
	block := c.md.block(w.text[w.ended:at], c.columns(), c.back)
	w.ended, w.fresh = at, false
	if block != "" {
		w.done = append(w.done, stood{at, strings.Split(block, "\n")})
	}
}

// differs says that what was printed of a text is no part of it.
func (w *writing) differs(c *conversation) tea.Cmd {
	w.above = ""
	return c.say(c.p.draw(show.Note("the model was asked again and answered otherwise: what stands above of its text does not count", c.columns())))
}

// draw draws the block that is being written.
func (w *writing) draw(c *conversation) {
	if w.fresh {
		return
	}
	w.fresh, w.last = true, []string{}
	text := w.text[min(max(w.ended, len(w.above)), len(w.text)):]
	code, is := fenced(text)
	switch {
	case strings.TrimSpace(text) == "":
	case is:
		lines := strings.Split(strings.TrimRight(code, "\n"), "\n")
		for _, line := range lines[max(0, len(lines)-c.height):] {
			w.last = append(w.last, "  "+show.Cut(show.Line(show.Tabs(line, 4)), c.columns()-2))
		}
	case len(text) > mostLast:
		w.last = strings.Split(tailOf(harmless(strings.ToValidUTF8(text[len(text)-mostLast:], "")), c.columns(), c.height), "\n")
	default:
		w.last = strings.Split(c.md.block(text, c.columns(), c.back), "\n")
	}
}

// lines are what stands below of it.
func (w *writing) lines() (all []string) {
	if w.above != "" && len(w.done)+len(w.last) > 0 {
		all = append(all, "")
	}
	for i, d := range w.done {
		if i > 0 {
			all = append(all, "")
		}
		all = append(all, d.lines...)
	}
	if len(w.done) > 0 && len(w.last) > 0 {
		all = append(all, "")
	}
	return append(all, w.last...)
}

// tailOf is the end of a text, in so many lines of a width.
func tailOf(text string, width, lines int) string {
	all := strings.Split(lipgloss.NewStyle().Width(max(width, 1)).Render(strings.TrimSpace(text)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
