package main

import (
	"strings"
	"testing"
)

// TestWordAt: what stands before the cursor (|) and can be completed.
func TestWordAt(t *testing.T) {
	for _, tt := range []struct {
		text string
		want word
	}{
		{"|", word{}},
		{"/|", word{commandWord, "", "", 0, 1}},
		{"/mo|", word{commandWord, "", "mo", 0, 3}},
		{"/mo|del x", word{commandWord, "", "mo", 0, 6}},
		{" /mo|", word{}},
		{"a /mo|", word{}},
		{"/etc/pa|", word{}},
		{"/model |", word{argumentWord, "model", "", 7, 7}},
		{"/model  p|ar", word{argumentWord, "model", "p", 8, 11}},
		{"/undo 1|", word{}},
		{"/model x\ny|", word{}},
		{"@|", word{fileWord, "", "", 0, 1}},
		{"see @ma| now", word{fileWord, "", "ma", 4, 7}},
		{"see (@ma|in", word{fileWord, "", "ma", 5, 10}},
		{"a\n@ma|", word{fileWord, "", "ma", 2, 5}},
		{"me@home|", word{}},
		{"@main.go:1|", word{}},
		{"@main.go:10-2|", word{}},
		{`@"my no|`, word{}},
		{"/fix @ma|", word{fileWord, "", "ma", 5, 8}},
	} {
		before, _, _ := strings.Cut(tt.text, "|")
		f := field{[]rune(strings.Replace(tt.text, "|", "", 1)), len([]rune(before))}
		if got := wordAt(f); got != tt.want {
			t.Errorf("%q: got %+v, want %+v", tt.text, got, tt.want)
		}
	}
}

// TestRanked: the same goes first, then what begins so, what has a part that begins so,
// what has it, and what has its characters in this order.
func TestRanked(t *testing.T) {
	all := []item{{name: "acorn"}, {name: "remodel"}, {name: "my-mod"}, {name: "model"}, {name: "mod"}, {name: "make-or-do"}, {name: "Moda"}, {name: "x"}}
	var got []string
	for _, x := range ranked(all, "mod") {
		got = append(got, x.name)
	}
	if want := "mod model Moda my-mod remodel make-or-do"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := ranked(all, ""); len(got) != len(all) || got[0].name != "acorn" {
		t.Errorf("of nothing typed: %v", got)
	}
}

// TestNearest: a mistyped name means the one that is nearest, and far ones are not meant.
func TestNearest(t *testing.T) {
	names := []string{"help", "mode", "model", "quit", "redo", "undo"}
	for typed, want := range map[string]string{"modle": "model", "moed": "mode", "hlep": "help", "unod": "undo", "exit": "", "x": "", "quitt": "quit"} {
		if got := nearest(typed, names); got != want {
			t.Errorf("%s means %q, not %q", typed, got, want)
		}
	}
}
