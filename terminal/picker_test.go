package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/bothyd/bothy/sdk/client/show"
)

func choicesOf(texts ...string) (all []choice) {
	for _, text := range texts {
		id, also, _ := strings.Cut(text, "|")
		all = append(all, choice{id: id, line: show.Spans{{Text: id}}, also: also, view: "about " + id})
	}
	return all
}

func TestFiltered(t *testing.T) {
	rows := choicesOf("fix-login|the password", "default-7|log files", "chat-1", "blog", "a log")
	for _, c := range []struct{ typed, want string }{
		{"", "fix-login default-7 chat-1 blog a log"},
		{"log", "fix-login a log blog default-7"},
		{"LOG", "fix-login a log blog default-7"},
		{"a", "a log default-7 chat-1 fix-login"},
		{"pass", "fix-login"},
		{"fix pass", "fix-login"},
		{"fx", "fix-login"},
		{"fix none", ""},
	} {
		var got []string
		for _, ch := range filtered(rows, c.typed) {
			got = append(got, ch.id)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%q: %q, want %q", c.typed, s, c.want)
		}
	}
}

// pressed is a key as a terminal tells it.
func pressed(name string) tea.KeyPressMsg {
	codes := map[string]rune{"up": tea.KeyUp, "down": tea.KeyDown, "enter": tea.KeyEnter, "tab": tea.KeyTab, "esc": tea.KeyEscape, "backspace": tea.KeyBackspace, "pgdown": tea.KeyPgDown, "end": tea.KeyEnd, "home": tea.KeyHome, "space": tea.KeySpace}
	if code, is := codes[name]; is {
		return tea.KeyPressMsg{Code: code}
	}
	if letter, is := strings.CutPrefix(name, "ctrl+"); is {
		return tea.KeyPressMsg{Code: rune(letter[0]), Mod: tea.ModCtrl}
	}
	if letter, is := strings.CutPrefix(name, "alt+"); is {
		return tea.KeyPressMsg{Code: rune(letter[0]), Mod: tea.ModAlt}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

func TestPickerKeys(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"enter", "one"},
		{"down enter", "two"},
		{"down down down down enter", "three"},
		{"up enter", "one"},
		{"t enter", "two"},
		{"t backspace enter", "one"},
		{"t h ctrl+u enter", "one"},
		{"t h enter", "three"},
		{"x enter", ""},
		{"end enter", "three"},
		{"esc", "left"},
	} {
		got := ""
		p := &picker{choose: func(ch choice) tea.Cmd { got = ch.id; return nil }}
		p.set(choicesOf("one", "two", "three"), false)
		for _, key := range strings.Fields(c.keys) {
			if _, ends := p.key(pressed(key)); ends && got == "" {
				got = "left"
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.keys, got, c.want)
		}
	}
}

// TestPickerRoom: a preview stands where there is room, and no line is wider than the
// screen or more than it has.
func TestPickerRoom(t *testing.T) {
	for _, c := range []struct {
		width, height int
		view          bool
	}{{40, 24, false}, {80, 24, true}, {80, 8, false}, {100, 8, true}, {120, 30, true}, {20, 5, false}} {
		p := &picker{title: "things", typed: strings.Repeat("e", 2)}
		var rows []string
		for i := range 50 {
			rows = append(rows, fmt.Sprintf("eel %d %s", i, strings.Repeat("x", 90)))
		}
		p.set(choicesOf(rows...), false)
		for range 50 {
			lines, cursor := p.draw(newPalette(), c.width, c.height)
			if len(lines) != c.height || cursor == nil {
				t.Fatalf("%dx%d has %d lines", c.width, c.height, len(lines))
			}
			for _, line := range lines {
				if ansi.StringWidth(line) > c.width {
					t.Errorf("%dx%d: %q", c.width, c.height, line)
				}
			}
			all := ansi.Strip(strings.Join(lines, "\n"))
			if strings.Contains(all, "about eel") != c.view || !strings.Contains(all, "> eel "+fmt.Sprint(p.at)+" ") {
				t.Errorf("%dx%d, at %d:\n%s", c.width, c.height, p.at, all)
			}
			p.key(pressed("down"))
		}
	}
}

// TestPickerFinds: what was found for what was typed fits, whatever it holds.
func TestPickerFinds(t *testing.T) {
	p := &picker{find: func(string) tea.Cmd { return nil }}
	p.set(choicesOf("one", "two"), true)
	p.key(pressed("down"))
	p.set(choicesOf("zero", "one", "two"), true)
	if p.fits[p.at].id != "two" {
		t.Errorf("it stands at %s", p.fits[p.at].id)
	}
	p.key(pressed("z"))
	if len(p.fits) != 1 {
		t.Errorf("%d fit", len(p.fits))
	}
	p.set(choicesOf("one"), true)
	if len(p.fits) != 1 || p.fits[0].id != "one" {
		t.Errorf("%v", p.fits)
	}
}

func TestMoment(t *testing.T) {
	now := time.Date(2026, 11, 25, 18, 0, 0, 0, time.Local)
	for at, want := range map[time.Time]string{
		now.Add(-time.Hour):      "     17:00",
		now.Add(-48 * time.Hour): "2026-11-23",
	} {
		if got := moment(at, now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
