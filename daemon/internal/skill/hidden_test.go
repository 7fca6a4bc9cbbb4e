package skill

import (
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
