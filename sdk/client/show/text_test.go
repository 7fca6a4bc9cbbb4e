package show

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ in, text, line string }{
		{"plain äöü 漢字 🙂", "plain äöü 漢字 🙂", "plain äöü 漢字 🙂"},
		{"two\nlines\tand a tab", "two\nlines\tand a tab", `two\nlines\tand a tab`},
		{"dos\r\nends", "dos\nends", `dos\r\nends`},
		{"over\rwrite", `over\rwrite`, `over\rwrite`},
		{"\x1b[2J\x1b]0;title\a", `\x1b[2J\x1b]0;title\x07`, `\x1b[2J\x1b]0;title\x07`},
		{"\u009b31m c1", `\x9b31m c1`, `\x9b31m c1`},
		{"\x7f\x00", `\x7f\x00`, `\x7f\x00`},
		{"a\u202egnp\u2066x\u200f", `a\u202egnp\u2066x\u200f`, `a\u202egnp\u2066x\u200f`},
		{"\ufeffbom\u2028sep", `\ufeffbom\u2028sep`, `\ufeffbom\u2028sep`},
		{"tag\U000e0041", `tag\U000e0041`, `tag\U000e0041`},
		{"bad \xff\xfe utf8 \ufffd", "bad \\xff\\xfe utf8 \ufffd", "bad \\xff\\xfe utf8 \ufffd"},
		{"join\u200ders \u26a0\ufe0f", "join\u200ders \u26a0\ufe0f", "join\u200ders \u26a0\ufe0f"},
		{"fill\u3164er sel\U000e0100", `fill\u3164er sel\U000e0100`, `fill\u3164er sel\U000e0100`},
		{"\x1b]52;c;ZXZpbA==\x07", `\x1b]52;c;ZXZpbA==\x07`, `\x1b]52;c;ZXZpbA==\x07`},
		{"back\b\b", `back\x08\x08`, `back\x08\x08`},
	} {
		if got := Text(c.in); got != c.text {
			t.Errorf("Text(%q) is %q, want %q", c.in, got, c.text)
		}
		if got := Line(c.in); got != c.line {
			t.Errorf("Line(%q) is %q, want %q", c.in, got, c.line)
		}
	}
}

func TestJSON(t *testing.T) {
	for in, want := range map[string]string{
		"plain äöü 🙂": `{"x":"plain äöü 🙂"}`,
		"\x1b[2J\a":   `{"x":"\u001b[2J\u0007"}`,
		"\u009b31m":   `{"x":"\u009b31m"}`, "\x7f": `{"x":"\u007f"}`,
		"a\u202eb\u2066": `{"x":"a\u202eb\u2066"}`, "tag\U000e0041": `{"x":"tag\udb40\udc41"}`,
	} {
		raw, err := json.Marshal(map[string]string{"x": in})
		if out := JSON(string(raw)); err != nil || out != want {
			t.Errorf("%q is written as %s (%v), want %s", in, out, err, want)
		}
		var back map[string]string
		if err := json.Unmarshal([]byte(JSON(string(raw))), &back); err != nil || back["x"] != in {
			t.Errorf("%q is read as %q (%v)", in, back["x"], err)
		}
	}
}

// FuzzReadable: JSON says the same when it is made readable, and has none of what is written for browsers alone.
func FuzzReadable(f *testing.F) {
	for _, seed := range []string{"<<SEARCH", `\u003c`, `\\u003c &`, "a\n\x1b\u2028>", `"\"<`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		raw, err := json.Marshal(map[string]string{text: text})
		if err != nil {
			t.Fatal(err)
		}
		var was, is map[string]string
		out := Readable(raw)
		if json.Unmarshal(raw, &was) != nil || json.Unmarshal([]byte(out), &is) != nil || !maps.Equal(was, is) {
			t.Fatalf("%s became %s", raw, out)
		}
		if strings.Count(out, "<") != 2*strings.Count(text, "<") {
			t.Fatalf("%s became %s", raw, out)
		}
	})
}

// FuzzText holds that nothing but printable characters, joiners and (in
// text) line breaks and tabs comes out, and that printable text is kept.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"plain", "\x1b[0m", "\u202e", "\xff", "a\r\nb", "\ufffd\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		line, lines := Line(text), Text(text)
		for _, r := range line + strings.NewReplacer("\n", "", "\t", "").Replace(lines) {
			if !unicode.IsPrint(r) && r != '\u200c' && r != '\u200d' || unicode.In(r, unicode.Cf) && r != '\u200c' && r != '\u200d' {
				t.Fatalf("%q let %U through", text, r)
			}
		}
		if !utf8.ValidString(line) || !utf8.ValidString(lines) {
			t.Fatalf("%q is not UTF-8 when escaped", text)
		}
		if Line(line) != line {
			t.Fatalf("%q changes when escaped twice", text)
		}
		if strings.IndexFunc(text, func(r rune) bool { return !plain(r, false) }) < 0 && utf8.ValidString(text) && line != text {
			t.Fatalf("%q was changed to %q", text, line)
		}
	})
}
