package sdk

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestCut: a text is cut between characters, to as much as there is room for, and what fits is
// left alone, whatever it is.
func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, n := rapid.String().Draw(t, "text"), rapid.IntRange(0, 40).Draw(t, "bytes")
		head, tail := Head(text, n), Tail(text, n)
		if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) || len(head) > n || len(tail) > n || !utf8.ValidString(head) || !utf8.ValidString(tail) {
			t.Fatalf("%q to %d: %q and %q", text, n, head, tail)
		}
		room := min(n, len(text))
		if cut := room < len(text); (room-len(head) >= utf8.UTFMax || room-len(tail) >= utf8.UTFMax) && cut || !cut && head+tail != text+text {
			t.Fatalf("%q to %d: %q and %q are less than there is room for", text, n, head, tail)
		}
	})
	for _, c := range []struct {
		text       string
		n          int
		head, tail string
	}{
		{"aäz", 3, "aä", "äz"},
		{"aäz", 2, "a", "z"},
		{"ä", 1, "", ""},
		{"abc", 0, "", ""},
		{"abc", -1, "", ""},
		{"\x80\x81", 2, "\x80\x81", "\x80\x81"},
		{"", 5, "", ""},
	} {
		if head, tail := Head(c.text, c.n), Tail(c.text, c.n); head != c.head || tail != c.tail {
			t.Errorf("%q to %d: %q and %q, want %q and %q", c.text, c.n, head, tail, c.head, c.tail)
		}
	}
}
