package modelhttp

import (
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// Text is a JSON string as the server's bytes, valid UTF-8 or not. A server
// that cuts its tokens anywhere sends the halves of a character in two strings,
// and decoding each as a Go string would lose both: join them with a Joiner.
type Text []byte

// UnmarshalJSON accepts a string or null.
func (t *Text) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*t = nil
		return nil
	}
	if len(b) < 2 || b[0] != '"' {
		return errors.New("text was expected")
	}
	inside := b[1 : len(b)-1]
	out := make([]byte, 0, len(inside))
	for len(inside) > 0 {
		valid := 0
		for valid < len(inside) {
			r, size := utf8.DecodeRune(inside[valid:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			valid += size
		}
		var s string
		if err := json.Unmarshal(append(append([]byte{'"'}, inside[:valid]...), '"'), &s); err != nil {
			return err
		}
		out = append(out, s...)
		inside = inside[valid:]
		if len(inside) > 0 {
			out = append(out, inside[0])
			inside = inside[1:]
		}
	}
	*t = out
	return nil
}

// Joiner puts pieces of text together at character boundaries. The zero value
// is ready.
type Joiner struct{ tail []byte }

// Add returns what can be shown so far. It is always valid UTF-8; bytes that
// can become no character are U+FFFD.
func (j *Joiner) Add(piece []byte) string {
	b := append(j.tail, piece...)
	keep := 0
	for back := 1; back <= min(utf8.UTFMax-1, len(b)); back++ {
		if c := b[len(b)-back]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-back:]) {
				keep = back
			}
			break
		}
	}
	j.tail = append([]byte(nil), b[len(b)-keep:]...)
	return valid(b[:len(b)-keep])
}

// Rest returns what was held back at the end of the text.
func (j *Joiner) Rest() string {
	b := j.tail
	j.tail = nil
	return valid(b)
}

// valid replaces each byte that belongs to no character, as JSON decoding does
// and the conversion to runes.
func valid(b []byte) string { return string([]rune(string(b))) }

// Pieces cuts text into parts of at most size bytes at character boundaries,
// so that no single delta outgrows a message of the plugin wire.
func Pieces(s string, size int) []string {
	var out []string
	for len(s) > size {
		cut := len(sdk.Head(s, size))
		if cut == 0 {
			cut = size
		}
		out, s = append(out, s[:cut]), s[cut:]
	}
	if s != "" {
		out = append(out, s)
	}
	return out
}
