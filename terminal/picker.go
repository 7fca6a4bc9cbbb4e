package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/bothyd/bothy/sdk/client/show"
)

// choice is a line of a picker.
type choice struct {
	id   string     // what the picker's owner knows it by
	line show.Spans // what stands there
	also string     // what is looked through, too, when one types
	view string     // the preview, drawn; empty where it has to be asked for
}

// picker is a list to choose from on a screen of its own. What is typed narrows it.
type picker struct {
	title  string
	rows   []choice
	fits   []choice // those that fit what was typed, the best first
	at     int      // of the one that enter takes, in fits
	typed  string
	whole  bool   // rows are what was found for what was typed: all of them fit
	empty  string // is said where nothing fits
	choose func(ch choice) tea.Cmd
	// find asks others for the rows that fit, and look for the preview of a row. Either
	// may be nil.
	find func(typed string) tea.Cmd
	look func(ch choice) tea.Cmd

	page   int // rows that were drawn last
	asked  map[string]bool
	viewed map[string]string // previews that were asked for
}

// set gives the picker its rows. Whole says that all of them fit what was typed.
func (p *picker) set(rows []choice, whole bool) tea.Cmd {
	was := ""
	if p.at < len(p.fits) {
		was = p.fits[p.at].id
	}
	p.rows, p.whole = rows, whole
	p.narrow()
	if i := slices.IndexFunc(p.fits, func(ch choice) bool { return ch.id == was }); i >= 0 {
		p.at = i
	}
	return p.preview()
}

// narrow finds the rows that fit.
func (p *picker) narrow() {
	p.fits, p.at = p.rows, 0
	if !p.whole {
		p.fits = filtered(p.rows, p.typed)
	}
}

// preview asks for the preview of the row that stands out.
func (p *picker) preview() tea.Cmd {
	if p.at >= len(p.fits) || p.look == nil || p.asked[p.fits[p.at].id] {
		return nil
	}
	if p.asked == nil {
		p.asked, p.viewed = map[string]bool{}, map[string]string{}
	}
	p.asked[p.fits[p.at].id] = true
	return p.look(p.fits[p.at])
}

// key implements screen.
func (p *picker) key(m tea.KeyPressMsg) (cmd tea.Cmd, ends bool) {
	switch key := m.Keystroke(); key {
	case "esc", "ctrl+c", "ctrl+d":
		return nil, true
	case "enter":
		if p.at >= len(p.fits) {
			return nil, false
		}
		return p.choose(p.fits[p.at]), true
	case "up", "ctrl+p":
		return p.move(-1), false
	case "down", "ctrl+n", "tab":
		return p.move(1), false
	case "pgup":
		return p.move(-max(p.page, 1)), false
	case "pgdown":
		return p.move(max(p.page, 1)), false
	case "home":
		return p.move(-len(p.fits)), false
	case "end":
		return p.move(len(p.fits)), false
	case "backspace":
		r := []rune(p.typed)
		return p.retype(string(r[:max(0, len(r)-1)])), false
	case "ctrl+u":
		return p.retype(""), false
	case "ctrl+w":
		left := strings.TrimRightFunc(p.typed, unicode.IsSpace)
		return p.retype(left[:strings.LastIndexFunc(left, unicode.IsSpace)+1]), false
	}
	return p.paste(m.Text), false
}

// paste implements screen.
func (p *picker) paste(text string) tea.Cmd {
	if text == "" {
		return nil
	}
	return p.retype(p.typed + strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text))
}

// retype narrows the list by another text.
func (p *picker) retype(text string) tea.Cmd {
	if text == p.typed {
		return nil
	}
	p.typed, p.whole = text, false
	p.narrow()
	if p.find != nil {
		return tea.Batch(p.preview(), p.find(text))
	}
	return p.preview()
}

func (p *picker) move(by int) tea.Cmd {
	p.at = max(0, min(p.at+by, len(p.fits)-1))
	return p.preview()
}

// From how many columns and rows on a picker has a preview.
const (
	besideFrom = 100 // columns: beside the list
	belowFrom  = 41  // columns: below it
	belowRows  = 14
)

// draw implements screen.
func (p *picker) draw(pal palette, width, height int) ([]string, *tea.Cursor) {
	field := "> " + show.Line(p.typed)
	if over := ansi.StringWidth(field) - (width - 1); over > 0 {
		field = "> " + ansi.TruncateLeft(show.Line(p.typed), over, "")
	}
	head := []string{
		cut(pal.bold.Render(p.title)+pal.dim.Render(fmt.Sprintf("  %d of %d", len(p.fits), len(p.rows))), width),
		field,
	}
	foot := cut(pal.dim.Render("enter takes  up, down  esc leaves  type to narrow"), width)
	room := max(height-len(head)-1, 1)
	var body []string
	switch view := p.view(); {
	case width >= besideFrom && view != "":
		left := width * 45 / 100
		body = columned(p.list(pal, left-1, room), view, left, width, room)
	case width >= belowFrom && height >= belowRows && view != "":
		list := p.list(pal, width, max(room/2, 1))
		body = append(list, pal.dim.Render(strings.Repeat("─", width)))
		body = append(body, folded(view, width)...)
	default:
		body = p.list(pal, width, room)
	}
	body = fill(body, room)
	return append(append(head, body...), foot), tea.NewCursor(ansi.StringWidth(field), 1)
}

// view is the preview of the row that stands out.
func (p *picker) view() string {
	if p.at >= len(p.fits) {
		return ""
	}
	if ch := p.fits[p.at]; ch.view != "" {
		return ch.view
	} else if view := p.viewed[ch.id]; view != "" {
		return view
	}
	if p.look != nil {
		return " " // so that the list does not jump when it comes
	}
	return ""
}

// list is the part of the rows around the one that stands out.
func (p *picker) list(pal palette, width, room int) (lines []string) {
	p.page = room
	if len(p.fits) == 0 {
		return []string{cut(pal.dim.Render("  "+p.empty), width)}
	}
	from := max(0, min(p.at-room/2, len(p.fits)-room))
	for i := from; i < min(from+room, len(p.fits)); i++ {
		mark := "  "
		if i == p.at {
			mark = pal.ask.Render("> ")
		}
		lines = append(lines, cut(mark+p.fits[i].line.Draw(pal.paint), width))
	}
	return fill(lines, room)
}

// columned are two columns of lines.
func columned(list []string, view string, left, width, room int) (lines []string) {
	right := fill(folded(view, width-left-2), room)
	for i, line := range fill(list, room) {
		lines = append(lines, line+strings.Repeat(" ", max(0, left-ansi.StringWidth(line)))+"│ "+right[i])
	}
	return lines
}

// fill makes a list of lines exactly so long.
func fill(lines []string, n int) []string {
	for len(lines) < n {
		lines = append(lines, "")
	}
	return lines[:n]
}

// cut is a drawn line in at most so many columns.
func cut(line string, width int) string { return ansi.Truncate(line, width, "…") }

// filtered are the rows that fit a text, the best first: each of its words stands in a
// row, or at least its characters do in their order; what is looked through, too, counts
// least.
func filtered(rows []choice, typed string) []choice {
	words := strings.Fields(strings.ToLower(typed))
	return fitting(rows, func(ch choice) int {
		id, line, also := strings.ToLower(ch.id), strings.ToLower(strings.TrimSpace(ch.line.String())), strings.ToLower(ch.also)
		sum := 0
		for _, word := range words {
			best := -1
			for _, r := range []int{rank(id, word), rank(line, word)} {
				if r >= 0 && (best < 0 || r < best) {
					best = r
				}
			}
			if strings.Contains(also, word) && (best < 0 || best == inOrder) {
				best = inOrder - 1
			}
			if best < 0 {
				return -1
			}
			sum += best
		}
		return sum
	})
}
