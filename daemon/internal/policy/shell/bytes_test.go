package shell

import (
	"strings"
	"testing"
)

// TestShown goes through characters one by one: which of them a person sees as
// what they are.
func TestShown(t *testing.T) {
	for _, c := range []struct {
		name  string
		r     rune
		shown bool
	}{
		{"a letter", 'a', true}, {"a blank", ' ', true}, {"a tab", '\t', true}, {"a new line", '\n', true}, {"a tilde", '~', true}, {"an exclamation mark", '!', true},
		{"a null", 0, false}, {"a bell", 7, false}, {"a backspace", 8, false}, {"a vertical tab", 11, false}, {"a form feed", 12, false}, {"a carriage return", '\r', false},
		{"escape", 0x1b, false}, {"a unit separator", 0x1f, false}, {"delete", 0x7f, false}, {"next line", 0x85, false}, {"a C1 control sequence introducer", 0x9b, false},
		{"a no-break space", 0xa0, false}, {"a soft hyphen", 0xad, false}, {"an umlaut", 'ü', true}, {"a combining accent", 0x301, true}, {"a combining grapheme joiner", 0x34f, false},
		{"a Hangul filler", 0x115f, false}, {"an Ogham space", 0x1680, false}, {"a Mongolian vowel separator", 0x180e, false}, {"an en quad", 0x2000, false}, {"an em space", 0x2003, false},
		{"a zero width space", 0x200b, false}, {"a zero width non-joiner", 0x200c, false}, {"a zero width joiner", 0x200d, false}, {"a left-to-right mark", 0x200e, false}, {"a right-to-left mark", 0x200f, false},
		{"a line separator", 0x2028, false}, {"a paragraph separator", 0x2029, false}, {"a left-to-right embedding", 0x202a, false}, {"a right-to-left override", 0x202e, false}, {"a narrow no-break space", 0x202f, false},
		{"a word joiner", 0x2060, false}, {"an invisible plus", 0x2064, false}, {"a left-to-right isolate", 0x2066, false}, {"a pop directional isolate", 0x2069, false}, {"a digit shape selector", 0x206f, false},
		{"a blank braille cell", 0x2800, false}, {"a braille cell", 0x2801, true}, {"an ideographic space", 0x3000, false}, {"an ideograph", '中', true}, {"a Hangul filler", 0x3164, false},
		{"a private use character", 0xe000, false}, {"a variation selector", 0xfe00, false}, {"the emoji selector", 0xfe0f, true}, {"a byte order mark", 0xfeff, false}, {"a halfwidth Hangul filler", 0xffa0, false},
		{"the place of an object", 0xfffc, false}, {"the replacement character", 0xfffd, true}, {"a musical control", 0x1d173, false}, {"an emoji", 0x1f600, true}, {"a language tag", 0xe0001, false}, {"a tag letter", 0xe0061, false},
		{"a supplementary variation selector", 0xe0100, false}, {"a plane 15 private use character", 0xf0000, false}, {"an unassigned character", 0x378, false},
	} {
		if got := shown(c.r); got != c.shown {
			t.Errorf("%s, U+%04X: shown is %t, want %t", c.name, c.r, got, c.shown)
		}
		want := Denied
		if c.shown {
			want = Proven
		}
		for _, line := range []string{"x" + string(c.r), string(c.r) + "x", "x" + string(c.r) + "x"} {
			if f := checkBytes(line); f.grade != want {
				t.Errorf("%s, U+%04X, in %q: %s", c.name, c.r, line, columns[f.grade])
			}
		}
	}
}

// TestNoText holds that bytes which are no UTF-8 are denied wherever they stand,
// and that the reason says where.
func TestNoText(t *testing.T) {
	for _, bad := range []string{"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\x80"} {
		for _, c := range []struct{ line, at string }{{bad, "byte 0 "}, {"ls " + bad, "byte 3 "}, {"ls " + bad + " x", "byte 3 "}, {"ü " + bad, "byte 3 "}} {
			f := checkBytes(c.line)
			if f.grade != Denied || f.rule != "shell.bytes" || !strings.Contains(f.reason, c.at) {
				t.Errorf("%q: %s by %s: %s", c.line, columns[f.grade], f.rule, f.reason)
			}
		}
	}
}

// TestSize holds where the size of a line ends, for the line itself and for a
// text in it.
func TestSize(t *testing.T) {
	full := "echo " + strings.Repeat("a", sizeCap-len("echo "))
	if r := Analyse(full, start); r.Grade != Proven {
		t.Errorf("%d bytes: %s (%s)", len(full), columns[r.Grade], r.Reason)
	}
	if r := Analyse(full+"a", start); r.Grade != Denied || r.Rule != "shell.size" || r.Commands != nil {
		t.Errorf("%d bytes: %s by %s with %d commands", len(full)+1, columns[r.Grade], r.Rule, len(r.Commands))
	}
	if r := Analyse("sh -c '\x01'", start); r.Grade != Denied || r.Rule != "shell.bytes" {
		t.Errorf("a text with a control character: %s by %s", columns[r.Grade], r.Rule)
	}
}

// TestBudgets holds how many commands and wrappers a line may have.
func TestBudgets(t *testing.T) {
	for _, c := range []struct {
		line     string
		grade    Grade
		rule     string
		commands int
	}{
		{strings.Repeat("ls;", commandCap), Proven, "", commandCap},
		{strings.Repeat("ls;", commandCap+1), Denied, "shell.size", commandCap},
		{strings.Repeat("nice ", wrapperCap) + "ls", Proven, "", wrapperCap + 1},
		{strings.Repeat("nice ", wrapperCap+1) + "ls", Unsafe, "shell.wrapper", wrapperCap + 2},
		{strings.Repeat("nice ", depthCap) + "ls", Unsafe, "shell.wrapper", depthCap + 1},
		{strings.Repeat("nice ", depthCap+1) + "ls", Denied, "shell.size", depthCap + 1},
		{strings.Repeat("eval ", depthCap+1) + "ls", Denied, "shell.size", depthCap + 1},
		{strings.Repeat("f() { ", depthCap) + "ls" + strings.Repeat("; }", depthCap), Unsafe, "shell.function", 1},
		{strings.Repeat("f() { ", depthCap+1) + "ls" + strings.Repeat("; }", depthCap+1), Denied, "shell.size", 0},
		{"ls " + strings.Repeat("$(ls ", 100) + strings.Repeat(")", 100), Unproven, "shell.substitution", 101},
		{"nice -x " + strings.Repeat("a ", scanCap-3) + "rm -rf /", Denied, "shell.deny", 1},
		{"nice -x " + strings.Repeat("a ", scanCap) + "rm -rf /", Unsafe, "shell.option", 1},
	} {
		r := Analyse(c.line, start)
		if r.Grade != c.grade || r.Rule != c.rule || len(r.Commands) != c.commands {
			t.Errorf("%.40q: %s by %q with %d commands, want %s by %q with %d", c.line, columns[r.Grade], r.Rule, len(r.Commands), columns[c.grade], c.rule, c.commands)
		}
	}
}
