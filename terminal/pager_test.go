package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

func TestFolded(t *testing.T) {
	red := lipgloss.NewStyle().Foreground(lipgloss.Red)
	for _, c := range []struct {
		text  string
		width int
		want  []string
	}{
		{"short\n\nlines", 10, []string{"short", "", "lines"}},
		{"words that are folded", 10, []string{"words that", "are folded"}},
		{"wordsthatarefolded", 10, []string{"wordsthata", "refolded"}},
		{red.Render("words that are folded"), 10, []string{"words that", "are folded"}},
		{"日本語日本語", 6, []string{"日本語", "日本語"}},
	} {
		got := folded(c.text, c.width)
		for i, line := range got {
			if ansi.StringWidth(line) > c.width {
				t.Errorf("%q is wider than %d", line, c.width)
			}
			if strings.Contains(c.text, "\x1b") && !strings.HasPrefix(line, "\x1b[") {
				t.Errorf("%q has lost its style", line)
			}
			got[i] = strings.TrimRight(ansi.Strip(line), " ")
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q in %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestFound(t *testing.T) {
	lines := []string{"One", "two", "\x1b[31mo\x1b[0mne more", "İone", "three"}
	for _, c := range []struct {
		text string
		want []int
	}{{"one", []int{0, 2, 3}}, {"One", []int{0}}, {"", nil}, {"four", nil}, {"31", nil}} {
		if got := found(lines, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, want %v", c.text, got, c.want)
		}
	}
}

func TestMarked(t *testing.T) {
	style := lipgloss.NewStyle().Reverse(true)
	for _, c := range [][3]string{
		{"no such thing", "x", "no such thing"},
		{"a needle here", "needle", "a \x1b[7mneedle\x1b[m here"},
		{"日本 needle", "needle", "日本 \x1b[7mneedle\x1b[m"},
		{"anything", "", "anything"},
	} {
		if got := marked(c[0], c[1], style); got != c[2] {
			t.Errorf("%q in %q: %q", c[1], c[0], got)
		}
	}
}

// TestPagerKeys: where one is after keys, in a text of 100 lines of which ten fit.
func TestPagerKeys(t *testing.T) {
	var text []string
	for i := range 100 {
		text = append(text, fmt.Sprintf("line %d", i))
	}
	text[20], text[50], text[98] = "the needle", "another needle", "the last Needle"
	for _, c := range []struct {
		keys string
		top  int
		note string
	}{
		{"", 0, ""},
		{"j j k", 1, ""},
		{"k", 0, ""},
		{"space", 9, ""},
		{"space b", 0, ""},
		{"G", 90, ""},
		{"G j", 90, ""},
		{"G g", 0, ""},
		{"/ n e e d l e enter", 20, "found 1 of 3, line 21"},
		{"/ n e e d l e enter n", 50, "found 2 of 3, line 51"},
		{"/ n e e d l e enter n n", 90, "found 3 of 3, line 99"},
		{"/ n e e d l e enter n n n", 20, "found 1 of 3, line 21"},
		{"/ n e e d l e enter N", 90, "found 3 of 3, line 99"},
		{"/ N e e d l e enter", 90, "found 1 of 1, line 99"},
		{"/ x y enter", 0, "nowhere: xy"},
		{"/ q esc", 0, ""},
		{"n", 0, "/ looks for a text"},
	} {
		p := &pager{title: "t", text: func(int) string { return strings.Join(text, "\n") }}
		p.draw(newPalette(), 40, 11)
		for _, key := range strings.Fields(c.keys) {
			if _, ends := p.key(pressed(key)); ends {
				t.Errorf("%s: %s leaves", c.keys, key)
			}
			lines, _ := p.draw(newPalette(), 40, 11)
			if len(lines) != 11 {
				t.Fatalf("%d lines", len(lines))
			}
		}
		if p.top != c.top || p.note != c.note {
			t.Errorf("%s: at %d, %q; want %d, %q", c.keys, p.top, p.note, c.top, c.note)
		}
	}
	for _, key := range []string{"q", "esc", "ctrl+c", "ctrl+o"} {
		if _, ends := (&pager{by: "ctrl+o"}).key(pressed(key)); !ends {
			t.Errorf("%s does not leave", key)
		}
	}
}

// TestPagerTellsItsEnd: once the last line was shown, and not before.
func TestPagerTellsItsEnd(t *testing.T) {
	p := &pager{text: func(int) string { return strings.Repeat("x\n", 30) + "the end" }}
	for range 3 {
		if p.draw(newPalette(), 40, 10); p.ended() {
			t.Fatalf("at %d", p.top)
		}
		p.key(pressed("space"))
	}
	p.key(pressed("space"))
	if p.draw(newPalette(), 40, 10); !p.ended() {
		t.Errorf("not at %d", p.top)
	}
	p.draw(newPalette(), 20, 10) // another width keeps the place
	if p.top < 20 {
		t.Errorf("at %d", p.top)
	}
}
