package main

import "testing"

// TestSteady: colours and what moves within a line stay; what steers a terminal otherwise is shown, and what is cut
// between two pieces is put together.
func TestSteady(t *testing.T) {
	for name, c := range map[string]struct {
		pieces []string
		want   string
	}{
		"text":           {[]string{"one\n", "two\r\n"}, "one\ntwo\r\n"},
		"a bar":          {[]string{"10%\r", "20%\r30%\n"}, "10%\r20%\r30%\n"},
		"colours":        {[]string{"\x1b[1;31mred\x1b[0m\n"}, "\x1b[1;31mred\x1b[0m\n"},
		"cut colours":    {[]string{"a\x1b", "[3", "1mred\x1b[", "0m"}, "a\x1b[31mred\x1b[0m"},
		"the clipboard":  {[]string{"\x1b]52;c;AAAA\a"}, "\\x1b]52;c;AAAA\\x07"},
		"cut clipboard":  {[]string{"\x1b", "]52;c;AAAA\a"}, "\\x1b]52;c;AAAA\\x07"},
		"a cleared page": {[]string{"\x1b[2J\x1b[H"}, "\\x1b[2J\\x1b[H"},
		"tabs":           {[]string{"a\tb"}, "a\tb"},
	} {
		t.Run(name, func(t *testing.T) {
			got, held := "", ""
			for _, p := range c.pieces {
				var text string
				text, held = steady(held + p)
				got += text
			}
			if got += held; got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// FuzzSteady: whatever is printed and however it is cut, no sequence comes through but colours.
func FuzzSteady(f *testing.F) {
	f.Add("a\x1b[31mb\x1b[0m", 3)
	f.Add("\x1b]52;c;AAAA\a\x1b[2J", 1)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		if cut < 0 || cut > len(text) {
			return
		}
		first, held := steady(text[:cut])
		second, _ := steady(held + text[cut:])
		for i, rest := range []string{first, second, first + second} {
			plain := colour.ReplaceAllString(rest, "")
			for _, r := range plain {
				if r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
					t.Fatalf("part %d of %q at %d lets %q through", i, text, cut, r)
				}
			}
		}
	})
}
