package main

import (
	"strings"
	"testing"
	"unicode"
)

// TestCalledBy: whatever somebody calls themselves, the daemon takes it, so that nobody is kept from being listed by it.
func TestCalledBy(t *testing.T) {
	for _, c := range []struct{ name, username, want string }{
		{"Ada", "", "Ada"},
		{"Ada", "lovelace", "Ada @lovelace"},
		{"", "lovelace", "@lovelace"},
		{"", "", ""},
		{" Ada\u00a0 L\n", "", "Ada L"},
		{"👩\u200d💻 \u202eada", "a", "👩💻 ada @a"},
		{strings.Repeat("Ж", 64), "lovelace", strings.Repeat("Ж", 59) + " @lovelace"},
		{strings.Repeat("😀", 64), "", strings.Repeat("😀", 31)},
	} {
		got := calledBy(user{Name: c.name, Username: c.username})
		if got != c.want || len(got) > mostName || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q %q is called %q (%d bytes)", c.name, c.username, got, len(got))
		}
	}
}
