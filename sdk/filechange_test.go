package sdk

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSpliceTakesBackAnyChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab\nµ")))
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		s := SpliceOf(before, after)
		got, ok := s.Apply(after)
		if !ok || got != before {
			t.Fatalf("%+v makes %q (%v) of %q, want %q", s, got, ok, after, before)
		}
	})
}

func TestSpliceKeepsWhatChanged(t *testing.T) {
	long := strings.Repeat("a line\n", 1000)
	s := SpliceOf(long+"old"+long, long+"new one"+long)
	if len(s.Removed) > 3+7 || s.Inserted > 7+7 {
		t.Errorf("a change of a word is kept as %d removed and %d inserted bytes", len(s.Removed), s.Inserted)
	}
	for _, c := range []struct{ before, after, removed string }{
		{"a\nkey = canary-1\nb\n", "a\nkey = cactus-1\nb\n", "key = canary-1"},
		{"canary", "cry", "canary"},
		{"a\nb\n", "a\nb\nc\n", ""},
		{"a\nb\nc\n", "a\nc\n", "b\n"},
		{"a = 1\n", "a = 12\n", ""},
		{strings.Repeat("x", 1000) + "a" + strings.Repeat("y", 1000), strings.Repeat("x", 1000) + "b" + strings.Repeat("y", 1000), strings.Repeat("x", 256) + "a" + strings.Repeat("y", 256)},
	} {
		if s := SpliceOf(c.before, c.after); string(s.Removed) != c.removed {
			t.Errorf("%.30q to %.30q removed %.300q, want %.300q", c.before, c.after, s.Removed, c.removed)
		}
	}
}

func TestSpliceRefusesAnotherText(t *testing.T) {
	for _, s := range []Splice{{Offset: 4}, {Offset: 2, Inserted: 2}, {Offset: -1}, {Inserted: -1}, {Inserted: 4}, {Offset: 1 << 62, Inserted: 1 << 62}} {
		if got, ok := s.Apply("abc"); ok {
			t.Errorf("%+v made %q of abc", s, got)
		}
	}
}

// TestCheckOfKeptContents: kept contents are those of the file that was there before, and nothing else.
func TestCheckOfKeptContents(t *testing.T) {
	file := func(hash string) *FileState { return &FileState{Kind: "file", Hash: hash} }
	for name, c := range map[string]struct {
		change FileChange
		ok     bool
	}{
		"replaced":              {FileChange{Path: "a", Before: file("x"), After: file("y"), Kept: "x"}, true},
		"deleted":               {FileChange{Path: "a", Before: file("x"), Kept: "x"}, true},
		"of another digest":     {FileChange{Path: "a", Before: file("x"), Kept: "y"}, false},
		"of nothing":            {FileChange{Path: "a", After: file("y"), Kept: "y"}, false},
		"of a link":             {FileChange{Path: "a", Before: &FileState{Kind: "link", Target: "x"}, Kept: "x"}, false},
		"kept twice":            {FileChange{Path: "a", Before: file("x"), Kept: "x", Undo: &Splice{}}, false},
		"of a move":             {FileChange{Path: "a", From: "b", After: file("x"), Kept: "x"}, false},
		"of what is no digest":  {FileChange{Path: "a", Before: file(""), Kept: ""}, true},
		"and the path leads up": {FileChange{Path: "../a", Before: file("x"), Kept: "x"}, false},
	} {
		if err := c.change.Check(); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCheckOfTheProjectsFolder: of the project's own folder only the mode can have been changed.
func TestCheckOfTheProjectsFolder(t *testing.T) {
	before, after := &FileState{Kind: "directory", Mode: 0o755}, &FileState{Kind: "directory", Mode: 0o775}
	if err := (FileChange{Path: ".", Before: before, After: after}).Check(); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]FileChange{
		"removed":  {Path: ".", Before: before},
		"made":     {Path: ".", After: after},
		"moved":    {Path: ".", From: "a", After: after},
		"replaced": {Path: ".", Before: before, After: &FileState{Kind: "file"}},
		"was file": {Path: ".", Before: &FileState{Kind: "file"}, After: after},
		"a splice": {Path: ".", Before: before, After: after, Undo: &Splice{}},
		"above":    {Path: "..", Before: before, After: after},
		"twice":    {Path: "./.", Before: before, After: after},
	} {
		if c.Check() == nil {
			t.Errorf("%s: it is believed", name)
		}
	}
}
