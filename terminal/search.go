package main

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk/client/show"
)

// search is a search in what was typed, backwards, while the person types what for.
type search struct {
	word  string
	at    int // of what was found, in the history
	found string
	none  bool // nothing more was found
}

// foundLines is how many lines of what was found are shown.
const foundLines = 5

// beginSearch begins to search.
func (c *conversation) beginSearch() tea.Cmd {
	c.menu.shut()
	c.search = &search{at: len(c.typed.typed)}
	return nil
}

// find searches for the word before a place. What was found stays where nothing is.
func (s *search) find(h *history, before int) {
	at, found := h.search(s.word, before)
	if s.none = !found; found {
		s.at, s.found = at, h.typed[at]
	}
}

// searchKey is a key while something is searched for. One that means nothing here takes
// what was found, and means what it means.
func (c *conversation) searchKey(m tea.KeyPressMsg) tea.Cmd {
	s := c.search
	switch key := m.Keystroke(); {
	case key == "esc", key == "ctrl+g":
		c.search = nil
		return nil
	case key == "ctrl+r":
		if s.word != "" {
			s.find(c.typed, s.at)
		}
	case key == "backspace", key == "ctrl+h":
		all := []rune(s.word)
		s.word, s.found, s.none = string(all[:max(0, len(all)-1)]), "", false
		if s.at = len(c.typed.typed); s.word != "" {
			s.find(c.typed, s.at)
		}
	case m.Text != "":
		s.word += m.Text
		s.find(c.typed, min(s.at+1, len(c.typed.typed)))
	default:
		c.takeFound()
		if key != "enter" {
			return c.key(m)
		}
	}
	return nil
}

// takeFound ends the search with what was found in the input.
func (c *conversation) takeFound() {
	s := c.search
	c.search = nil
	if s.found != "" {
		c.in.set(c.typed.take(s.at, c.in.area.Value()))
	}
}

// lines are the search and what was found.
func (s *search) lines(c *conversation) ([]string, *tea.Cursor) {
	label := "search: "
	if s.none {
		label = "search, no more: "
	}
	word := show.Line(s.word)
	at := tea.NewCursor(min(show.Width(label+word), max(c.width-1, 1)), 0)
	lines := []string{c.p.ask.Render(label) + show.Cut(word, max(c.columns()-len(label), 8))}
	if s.found != "" {
		found := strings.Split(harmless(s.found), "\n")
		for i, line := range found[:min(len(found), foundLines)] {
			if i == foundLines-1 && len(found) > foundLines {
				line = "… " + show.Plural(len(found)-i, "more line")
			}
			lines = append(lines, "  "+show.Cut(line, c.columns()-2))
		}
	}
	lines = append(lines, c.p.dim.Render("  enter takes  ctrl-r older  esc leaves"))
	for i := range lines {
		lines[i] = cut(lines[i], max(c.width-1, 1))
	}
	return lines, at
}
