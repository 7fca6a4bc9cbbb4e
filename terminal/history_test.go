package main

import (
	"os"
	"path/filepath"
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
	saveDraft(state, "/p", "half a sentence")
	files, err := filepath.Glob(filepath.Join(state, "*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("there are %q, %v", files, err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info.Mode(), err)
		}
	}
	if got := readDraft(state, "/p"); got != "half a sentence" {
		t.Errorf("the draft is %q", got)
	}
	saveDraft(state, "/p", "")
	if got := readDraft(state, "/p"); got != "" {
		t.Errorf("the draft stays: %q", got)
	}
}

// TestPaste: a short text goes in as it is, a long one as a mark that is the text again
// when it is sent.
func TestPaste(t *testing.T) {
	in := newInput()
	in.area.SetWidth(60)
	in.paste("a\r\nb")
	long := ""
	for range 40 {
		long += "line\n"
	}
	in.paste(long)
	if in.area.Value() != "a\nb[pasted 1: 41 lines]" {
		t.Errorf("the input shows %q", in.area.Value())
	}
	if in.text() != "a\nb"+long {
		t.Errorf("what is sent is %q", in.text())
	}
	in.clear()
	if in.text() != "" {
		t.Errorf("it is not empty: %q", in.text())
	}
}
