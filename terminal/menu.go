package main

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

const (
	// menuRows is how many items of a menu are in sight.
	menuRows = 8
	// filesAfter is how long a person pauses before files are asked for.
	filesAfter = 60 * time.Millisecond
	// mostFiles is how many files a menu has.
	mostFiles = 50
)

// menu is what may be put in for the word at the cursor. It stands below the input while
// there is something.
type menu struct {
	word   word
	items  []item
	at     int
	moved  bool // the person chose; else the best is chosen
	closed word // that esc closed it over
	asked  int  // the number of the last question for files: answers to others are late
	taking bool // tab was pressed before the files came

	offered map[string][]item // by command, while the menu stands there; "" are commands
}

// What comes for a menu.
type (
	// offered are the items that the daemon has for a command.
	offered struct {
		of    string
		items []item
	}
	// filesDue has the files asked for, if nothing was typed since.
	filesDue struct{ asked int }
	// filesFound are the files that fit.
	filesFound struct {
		asked int
		files []string
		err   error
	}
)

// shut closes the menu until something is typed.
func (m *menu) shut() { *m = menu{asked: m.asked + 1, closed: m.closed} }

// suggest has the menu stand for the word at the cursor, after something was typed.
func (c *conversation) suggest() tea.Cmd {
	w := wordAt(c.in.field())
	if w.kind == noWord || c.in.normal() {
		c.menu.shut()
		c.menu.closed = word{}
		return nil
	}
	if closed := c.menu.closed; closed.kind == w.kind && closed.from == w.from {
		return nil
	}
	if c.menu.word.kind != w.kind || c.menu.word.of != w.of || c.menu.word.from != w.from {
		c.menu.shut()
	}
	c.menu.word, c.menu.taking, c.menu.closed = w, false, word{}
	c.menu.asked++
	if w.kind == fileWord {
		asked := c.menu.asked
		return tea.Tick(filesAfter, func(time.Time) tea.Msg { return filesDue{asked} })
	}
	c.refreshMenu()
	return c.loadMenu(w)
}

// refreshMenu ranks what there is for the word.
func (c *conversation) refreshMenu() {
	chosen := ""
	if c.menu.moved && c.menu.at < len(c.menu.items) {
		chosen = c.menu.items[c.menu.at].name
	}
	all := c.menu.offered[c.menu.word.of]
	if c.menu.word.kind == commandWord {
		all = append(commandItems(), all...)
	}
	c.choose(ranked(all, c.menu.word.text), chosen)
}

// choose has the menu offer items, one of them chosen.
func (c *conversation) choose(items []item, chosen string) {
	c.menu.items = items
	c.menu.at = slices.IndexFunc(items, func(x item) bool { return chosen != "" && x.name == chosen })
	c.menu.moved = c.menu.at >= 0
	c.menu.at = max(c.menu.at, 0)
}

// loadMenu asks the daemon once for what a menu needs of it. Without an answer the menu
// has less.
func (c *conversation) loadMenu(w word) tea.Cmd {
	if _, is := c.menu.offered[w.of]; is {
		return nil
	}
	if c.menu.offered == nil {
		c.menu.offered = map[string][]item{}
	}
	c.menu.offered[w.of] = nil
	load := arguments[w.of]
	if w.kind == commandWord {
		load = (*conversation).typedItems
	}
	return c.ask(func(ctx context.Context) tea.Msg {
		items, err := load(c, ctx)
		if err != nil {
			return nil
		}
		if w.kind == commandWord {
			for i := range items {
				if isCommand(items[i].name) { // the command wins
					items[i].name = "skill " + items[i].name
				}
			}
		}
		return offered{w.of, items}
	})
}

// offer takes in what the daemon has.
func (c *conversation) offer(m offered) {
	if _, is := c.menu.offered[m.of]; is && c.menu.word.kind != noWord {
		c.menu.offered[m.of] = m.items
		c.refreshMenu()
	}
}

// askFiles asks for the files that fit the word, unless something was typed meanwhile.
func (c *conversation) askFiles(asked int) tea.Cmd {
	if asked != c.menu.asked {
		return nil
	}
	query := rpc.FilesParams{Project: c.o.project, Query: c.menu.word.text, Limit: mostFiles}
	return c.ask(func(ctx context.Context) tea.Msg {
		found, err := c.cl.Files(ctx, query)
		return filesFound{asked, found.Files, err}
	})
}

// offerFiles takes in the files that fit.
func (c *conversation) offerFiles(m filesFound) tea.Cmd {
	if m.asked != c.menu.asked {
		return nil
	}
	var items []item
	for _, f := range m.files {
		if f == show.Line(f) { // else the input would show another name
			items = append(items, item{name: f})
		}
	}
	c.choose(items, "")
	switch {
	case m.err != nil && c.menu.taking:
		return c.fail(m.err)
	case len(items) == 0 && c.menu.taking:
		c.tail = c.p.dim.Render(show.Cut("no file of the project fits @"+show.Line(c.menu.word.text), c.columns()))
	case c.menu.taking:
		return c.take()
	}
	return nil
}

// menuKey is a key while something can be completed; false leaves it to others.
func (c *conversation) menuKey(key string) (cmd tea.Cmd, is bool) {
	m := &c.menu
	if key == "tab" {
		return c.tab(), true
	}
	n := len(m.items)
	if n == 0 {
		return nil, false
	}
	switch key {
	case "up", "ctrl+p":
		m.at, m.moved = (m.at+n-1)%n, true
	case "down", "ctrl+n":
		m.at, m.moved = (m.at+1)%n, true
	case "esc":
		closed := m.word
		m.shut()
		m.closed = closed
	case "enter":
		chosen := m.items[m.at]
		w := m.word
		if !m.moved && (chosen.name == w.text || w.kind == argumentWord && w.text == "") {
			m.shut()
			return nil, false // it stands there already, or nothing was begun
		}
		meant := m.moved || strings.HasPrefix(chosen.name, w.text) // else it is looked at first
		cmd = c.take()
		if w.kind != fileWord && !chosen.takes && meant {
			return tea.Batch(cmd, c.enter()), true
		}
	default:
		return nil, false
	}
	return cmd, true
}

// tab takes what is chosen; files that were not asked for yet are asked for now.
func (c *conversation) tab() tea.Cmd {
	if len(c.menu.items) > 0 {
		return c.take()
	}
	w := wordAt(c.in.field())
	if w.kind != fileWord {
		return c.suggest()
	}
	c.menu.shut()
	c.menu.word, c.menu.taking = w, true
	return c.askFiles(c.menu.asked)
}

// take puts what is chosen in the place of the word, unless another text stands there now.
func (c *conversation) take() tea.Cmd {
	if wordAt(c.in.field()) != c.menu.word {
		c.menu.shut()
		return nil
	}
	w, chosen := c.menu.word, c.menu.items[c.menu.at]
	text := chosen.name
	switch w.kind {
	case commandWord:
		text = "/" + text
		if chosen.takes {
			text += " "
		}
	case fileWord:
		text = "@" + quoted(text) + " "
	}
	f, _ := c.in.field().cut(w.from, w.to)
	if strings.HasSuffix(text, " ") && f.at < len(f.text) && f.text[f.at] == ' ' {
		text = text[:len(text)-1]
	}
	c.in.change(f.put(f.at, []rune(text)))
	c.menu.shut()
	if w.kind == commandWord && chosen.takes {
		return c.suggest()
	}
	return nil
}

// lines are the rows in sight, the chosen one marked.
func (m *menu) lines(c *conversation) (lines []string) {
	rows := min(menuRows, max(c.height/3, 2), len(m.items))
	first := min(max(m.at-rows/2, 0), len(m.items)-rows)
	seen := m.items[first : first+rows]
	mark := map[wordKind]string{commandWord: "/", fileWord: "@"}[m.word.kind]
	wide := 0
	for _, x := range seen {
		wide = max(wide, show.Width(mark+show.Line(x.name)))
	}
	if seen[0].about != "" {
		wide = min(wide, max(c.columns()/2, 16))
	}
	for i, x := range seen {
		name := show.Cut(mark+show.Line(x.name), min(wide, c.columns()-2))
		row := "  " + name
		if first+i == m.at {
			row = c.p.ask.Render("→ " + name)
		}
		if room := c.columns() - wide - 4; x.about != "" && room > 4 {
			row += strings.Repeat(" ", wide-show.Width(name)+2) + c.p.dim.Render(show.Cut(show.Line(x.about), room))
		}
		lines = append(lines, row)
	}
	return lines
}
