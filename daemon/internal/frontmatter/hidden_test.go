package frontmatter

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPlainASCII compares the look at eight characters at once with that at each.
func TestPlainASCII(t *testing.T) {
	for c := range 256 {
		for at := range 17 {
			text := []byte("abc\nefg\thijk\rmnop")
			text[at] = byte(c)
			if plainASCII(text) != plainBytes(text) {
				t.Errorf("%q", text)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOf(rapid.ByteRange(9, 0x81)).Draw(t, "text")
		if plainASCII(text) != plainBytes(text) {
			t.Fatalf("%q", text)
		}
	})
}

// TestUnseen: what a person does not see is named by its place, once for what changes
// the order and once for the rest.
func TestUnseen(t *testing.T) {
	for text, want := range map[string]string{
		"plain\n\ttext": "", "ä\nb\u202ec": "f:2:2: U+202E", "a\u200bb\u200b": "f:1:2: U+200B", "x\u202e\u200b": "f:1:2: U+202E f:1:3: U+200B",
		"\U0001F468\u200d\U0001F4BB \u2764\ufe0f 1\ufe0f": "", "\ufefftext": "", "t\ufeffext": "f:1:2: U+FEFF", "\x1b[31m": "f:1:1: U+001B",
	} {
		var got []string
		for _, line := range Unseen("f", text) {
			place, rest, _ := strings.Cut(line, ": the character ")
			code, _, _ := strings.Cut(rest, " ")
			got = append(got, place+": "+code)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q has %q, want %q", text, got, want)
		}
	}
}
