package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestHistory: what was typed is there again, per project, for the user alone; what stood
// in the input comes back at its end.
func TestHistory(t *testing.T) {
	state := filepath.Join(t.TempDir(), "terminal")
	h := openHistory(state, "/p")
	for _, text := range []string{"one", "two\nlines", "one"} {
		h.add(text)
	}
	h = openHistory(state, "/p")
	var got []string
	for text, is := h.earlier("begun"); is; text, is = h.earlier(text) {
		got = append(got, text)
	}
	if len(got) != 2 || got[0] != "one" || got[1] != "two\nlines" {
		t.Errorf("got %q", got)
	}
	if text, is := h.later(); !is || text != "one" {
		t.Errorf("later is %q", text)
	}
	if text, is := h.later(); !is || text != "begun" {
		t.Errorf("at the end is %q", text)
	}
	if _, is := h.later(); is {
		t.Error("there is something behind the end")
	}
	if other := openHistory(state, "/q"); len(other.typed) != 0 {
		t.Errorf("another project has %q", other.typed)
	}
	if info, err := os.Stat(h.file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestHistoryKeepsWhatWasBegun: what was begun stands in the input again when an older prompt
// was sent, or was found and sent.
func TestHistoryKeepsWhatWasBegun(t *testing.T) {
	for _, tt := range []struct {
		begun, want string
		keys        []string
	}{
		{"begun", "begun", []string{"up", "enter"}},
		{"begun", "begun", []string{"up", "!", "enter"}},
		{"begun", "begun", []string{"ctrl+r", "o", "enter", "enter"}},
		{"begun", "", []string{"up", "down", "enter"}},
		{"", "", []string{"up", "enter"}},
	} {
		c := alone(t, 80, 24)
		c.typed.add("older")
		typeInto(c, tt.begun)
		press(c, tt.keys...)
		if got := c.in.area.Value(); got != tt.want || len(c.outbox) != 1 {
			t.Errorf("%v: the input is %q, and %d go out", tt.keys, got, len(c.outbox))
		}
	}
}

// TestHistoryOfTwo: terminals that are open at once lose nothing of each other, a damaged
// line loses itself, and a long file is written anew.
func TestHistoryOfTwo(t *testing.T) {
	state := t.TempDir()
	one, two := openHistory(state, "/p"), openHistory(state, "/p")
	one.add("of one")
	two.add("of two")
	f, err := os.OpenFile(one.file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("\"half"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	one.add("after it")
	if got := openHistory(state, "/p").typed; !slices.Equal(got, []string{"of one", "of two", "after it"}) {
		t.Errorf("there are %q", got)
	}
	for i := range mostTypedLines {
		two.add(fmt.Sprint("number ", i%(mostTyped+10)))
	}
	before, err := os.ReadFile(one.file)
	if err != nil {
		t.Fatal(err)
	}
	h := openHistory(state, "/p")
	after, err := os.ReadFile(one.file)
	if err != nil || len(after) >= len(before) || len(h.typed) != mostTyped || bytes.Count(after, []byte("\n")) != mostTyped {
		t.Errorf("%d bytes became %d, with %d prompts, %v", len(before), len(after), len(h.typed), err)
	}
	if !slices.Equal(openHistory(state, "/p").typed, h.typed) {
		t.Error("it is read otherwise the next time")
	}
}

// TestHistoryOfLongTexts: a long prompt costs no other one its place, whatever characters
// it has, and who waits for the file adds to the new one.
func TestHistoryOfLongTexts(t *testing.T) {
	for _, tt := range []struct {
		name, long string
		times      int
		kept       bool // by the terminal that is open
		again      bool // by the next one
	}{
		{"too long to be sent", strings.Repeat("x", 5<<20), 1, false, false},
		{"tags", strings.Repeat("<a>", mostInput/3-1), 1, true, true},
		{"written with six bytes each", strings.Repeat("\x01", mostInput-1), 1, true, false},
		{"many", strings.Repeat("y", mostInput-9), 6, true, true},
	} {
		state := t.TempDir()
		h := openHistory(state, "/p")
		for i := range 50 {
			h.add(fmt.Sprint("prompt ", i))
		}
		for i := range tt.times {
			h.add(fmt.Sprint(i, tt.long))
		}
		h.add("the last")
		if got := len(h.typed) == 51+tt.times; got != tt.kept {
			t.Errorf("%s: the terminal remembers it: %v", tt.name, got)
		}
		next := openHistory(state, "/p")
		short := slices.DeleteFunc(slices.Clone(next.typed), func(text string) bool { return len(text) > 100 })
		if len(short) != 51 || short[0] != "prompt 0" || short[50] != "the last" {
			t.Errorf("%s: of 51 others %d are left", tt.name, len(short))
		}
		if got := len(next.typed) > len(short); got != tt.again {
			t.Errorf("%s: it is there again: %v", tt.name, got)
		}
		if info, err := os.Stat(h.file); err != nil || info.Mode().Perm() != 0o600 || info.Size() > mostTypedBytes {
			t.Errorf("%s: %v, %v", tt.name, info, err)
		}
		h.add("behind it")
		if got := openHistory(state, "/p").typed; got[len(got)-1] != "behind it" {
			t.Errorf("%s: what is added behind it is lost", tt.name)
		}
	}
}

// TestHistorySearch goes backwards from a place.
func TestHistorySearch(t *testing.T) {
	h := &history{typed: []string{"an Apple", "a pear", "two apples"}}
	for _, tt := range []struct {
		text   string
		before int
		want   int
		found  bool
	}{{"app", 3, 2, true}, {"app", 2, 0, true}, {"app", 0, 0, false}, {"plum", 3, 0, false}, {"PEAR", 9, 1, true}} {
		if at, found := h.search(tt.text, tt.before); at != tt.want || found != tt.found {
			t.Errorf("%s before %d: %d, %v", tt.text, tt.before, at, found)
		}
	}
}
