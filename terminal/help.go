package main

import (
	"fmt"
	"strings"
)

// keyGroups are all keys with what they do, as /help shows them.
var keyGroups = []struct {
	name string
	keys [][2]string
}{
	{"sending", [][2]string{
		{"enter", "send; while something works the prompt waits behind it"},
		{"alt-enter, ctrl-j", "another line; so do shift-enter and a \\ at the end"},
		{"alt-up", "take the last prompt that waits back"},
		{"esc", "end what works, and keep what was said"},
		{"ctrl-c", "empty the line, else end what works; twice leaves"},
		{"ctrl-d", "leave; what works goes on"},
	}},
	{"beginnings", [][2]string{
		{"/", "commands and skills; with a blank before it, text"},
		{"@", "files: @main.go, lines of one: @main.go:10-20"},
		{"!", "run a command yourself; the model reads it"},
	}},
	{"menu", [][2]string{
		{"up, down", "choose"},
		{"tab", "take"},
		{"enter", "take, and run a command that is complete"},
		{"esc", "close"},
	}},
	{"typed before", [][2]string{
		{"up, down", "from the first and the last line; also ctrl-p, ctrl-n"},
		{"ctrl-r", "search; again: further back"},
	}},
	{"editing", [][2]string{
		{"ctrl-a, ctrl-e", "to the line's beginning, its end; also home, end"},
		{"alt-b, alt-f", "a word back, forth; also ctrl-left, ctrl-right"},
		{"ctrl-w, alt-d", "cut the word before, behind"},
		{"ctrl-u, ctrl-k", "cut the line before, behind the cursor"},
		{"ctrl-y", "put in what was cut"},
		{"ctrl-_, alt-z", "undo"},
		{"alt-e", "put a pasted text in, to edit it"},
		{"ctrl-g", "open your editor; also ctrl-x ctrl-e"},
	}},
	{"runs", [][2]string{
		{"ctrl-o", "show everything of this run, also what the model thought"},
		{"alt-r", "go to the next run that asks"},
	}},
	{"pages and lists", [][2]string{
		{"space, b, g, G", "a screen on, back, the beginning, the end; also j, k"},
		{"/ n N", "find in a page, again, back"},
		{"enter", "take what stands out in a list; typing narrows it"},
		{"q, esc", "leave a page; esc a list"},
	}},
	{"screen", [][2]string{
		{"ctrl-t", "show what the model thinks whole, or not"},
		{"ctrl-l", "draw anew"},
		{"ctrl-z", "suspend; fg comes back"},
	}},
}

// viKeys are those of normal mode.
var viKeys = [][2]string{
	{"esc", "to normal mode (N stands before the line); there: end what works"},
	{"i a I A o O", "write"},
	{"h j k l w b e", "move; also 0 ^ $ gg G, with counts"},
	{"d c y", "with those, and dd cc yy; x X D C r"},
	{"p P u", "put in, undo"},
}

// keyHelp are the keys, in groups.
func (c *conversation) keyHelp() string {
	var b strings.Builder
	groups := keyGroups
	if c.in.vi != nil {
		groups = append(groups[:len(groups):len(groups)], struct {
			name string
			keys [][2]string
		}{"vi", viKeys})
	}
	for _, g := range groups {
		b.WriteString("\n" + c.p.bold.Render(g.name) + "\n")
		for _, k := range g.keys {
			b.WriteString(c.keyLine(k[0], k[1]) + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// keyColumn is how wide keys are beside what they do.
const keyColumn = 20

// keyLine is a key with what it does, beside it or below it.
func (c *conversation) keyLine(key, does string) string {
	if c.columns() < 3*keyColumn {
		return "  " + c.p.ask.Render(key) + "\n    " + wrapped(does, c.columns()-4, "    ")
	}
	return "  " + c.p.ask.Render(fmt.Sprintf("%-*s", keyColumn, key)) + wrapped(does, c.columns()-keyColumn-2, strings.Repeat(" ", keyColumn+2))
}
