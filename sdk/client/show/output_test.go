package show

import (
	"strings"
	"testing"
	"unicode"
)

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
		"\x1b[31\x1b[0mx\x1b[":            `\x1b[31x\x1b[`,
		"\x1b\x1b[0m[31mx":                `\x1b[31mx`,
		"漢\tx":                            "漢      x",
	} {
		if got := Output(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestColoursAreTakenOutInOnePass: what is no colour costs no copy of what follows it.
func TestColoursAreTakenOutInOnePass(t *testing.T) {
	many := strings.Repeat("\x1b[", 100<<10)
	if got, want := Output(many), strings.Repeat(`\x1b[`, 100<<10); got != want {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
	few := strings.Repeat("a\x1b[31mb\x1b[2J", 1000)
	if n := testing.AllocsPerRun(5, func() { uncoloured(few) }); n > 50 {
		t.Errorf("%d escapes take %.0f allocations", 2000, n)
	}
}

// FuzzOutput: whatever a program printed, nothing that steers is left.
func FuzzOutput(f *testing.F) {
	f.Add("\x1b[31m\x1b[1;1H\r\t\xff")
	f.Fuzz(func(t *testing.T, text string) {
		for _, shown := range []string{Output(text), Text(text), Line(text)} {
			if strings.ContainsFunc(shown, func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }) {
				t.Errorf("%q is shown as %q", text, shown)
			}
		}
	})
}
