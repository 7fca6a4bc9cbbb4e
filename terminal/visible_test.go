package main

import (
	"strings"
	"testing"
	"unicode"
)

// TestVisible: nothing of a text steers a terminal or reorders what stands around it.
func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"plain ünï 漢字 🙂":                    "plain ünï 漢字 🙂",
		"\x1b[31mred\x1b[0m":                `\x1b[31mred\x1b[0m`,
		"\x1b]0;title\a":                    `\x1b]0;title\x07`,
		"\x1b]52;c;ZXZpbA==\x07":            `\x1b]52;c;ZXZpbA==\x07`,
		"\u009b2J":                          `\x9b2J`,
		"a\u202eb\u2066c":                   `a\u202eb\u2066c`,
		"tag\U000e0041":                     `tag\U000e0041`,
		"byte \xff":                         `byte \xff`,
		"two\nlines":                        "two\nlines",
		"back\b\b\b\r":                      `back\x08\x08\x08\x0d`,
		"zero\u200bwidth\ufeff and a\u00ad": `zero\u200bwidth\ufeff and a\xad`,
	} {
		if got := visible(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestOutput: what a program printed is shown as a terminal would show it, without its
// colours.
func TestOutput(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\n1234567\tc":                "a       b\n1234567 c",
		"1%\r2%\r100%\ndone\r\n":          "100%\ndone\n",
		"\x1b[1;32mok\x1b[0m \x1b[mplain": "ok plain",
		"\x1b[2Jgone \x1b[10;10Hthere":    `\x1b[2Jgone \x1b[10;10Hthere`,
		"\x1b[31mred\x1b]0;t\a":           `red\x1b]0;t\x07`,
		"unfinished \x1b[31":              `unfinished \x1b[31`,
		"漢\tx":                            "漢       x",
	} {
		if got := output(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// FuzzOutput: whatever a program printed, nothing that steers is left.
func FuzzOutput(f *testing.F) {
	f.Add("\x1b[31m\x1b[1;1H\r\t\xff")
	f.Fuzz(func(t *testing.T, text string) {
		for _, shown := range []string{output(text), visible(text), visibleLine(text)} {
			if strings.ContainsFunc(shown, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
				t.Errorf("%q is shown as %q", text, shown)
			}
		}
	})
}

// TestHeadAndTail: the middle of a long result is left out, and never one line alone.
func TestHeadAndTail(t *testing.T) {
	lines := func(n int) []string {
		all := make([]string, n)
		for i := range all {
			all[i] = "x"
		}
		return all
	}
	for n, want := range map[int]int{1: 1, 15: 15, 16: 15, 400: 15} {
		got := headAndTail(lines(n))
		if len(got) != want || n > 15 && !strings.HasPrefix(got[resultHead], "… ") {
			t.Errorf("%d lines: got %d: %q", n, len(got), got)
		}
	}
}
