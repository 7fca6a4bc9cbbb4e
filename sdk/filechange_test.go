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
	if len(s.Removed) > 3 || s.Inserted > 7 {
		t.Errorf("a change of a word is kept as %d removed and %d inserted bytes", len(s.Removed), s.Inserted)
	}
}

func TestSpliceRefusesAnotherText(t *testing.T) {
	for _, s := range []Splice{{Offset: 4}, {Offset: 2, Inserted: 2}, {Offset: -1}, {Inserted: -1}, {Inserted: 4}, {Offset: 1 << 62, Inserted: 1 << 62}} {
		if got, ok := s.Apply("abc"); ok {
			t.Errorf("%+v made %q of abc", s, got)
		}
	}
}
