package modelhttp

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestTextKeepsBrokenCharacters(t *testing.T) {
	for in, want := range map[string]string{
		`"a\u00e4\n\ud83d\ude42"`: "aä\n🙂",
		"\"\xc3\"":                "\xc3",
		"\"\\\"\xa4\\\\\"":        "\"\xa4\\",
		`""`:                      "",
	} {
		var got Text
		if err := json.Unmarshal([]byte(in), &got); err != nil || string(got) != want {
			t.Errorf("%q becomes %q, error %v", in, got, err)
		}
	}
	var got Text
	if err := json.Unmarshal([]byte("null"), &got); err != nil || got != nil {
		t.Errorf("null becomes %q, error %v", got, err)
	}
	for _, bad := range []string{"1", "{}", "[]"} {
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s was taken as text", bad)
		}
	}
}

// TestJoinerIsWhole: however bytes are cut, what is shown is the same, and it
// is always valid.
func TestJoinerIsWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		if rapid.Bool().Draw(t, "valid") {
			in = []byte(rapid.String().Draw(t, "text"))
		}
		var j Joiner
		var got strings.Builder
		for rest := in; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			piece := j.Add(rest[:n])
			if !utf8.ValidString(piece) {
				t.Fatalf("%q is not valid", piece)
			}
			got.WriteString(piece)
			rest = rest[n:]
		}
		got.WriteString(j.Rest())
		if want := string([]rune(string(in))); got.String() != want {
			t.Errorf("%q becomes %q, want %q", in, got.String(), want)
		}
	})
}

func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.String().Draw(t, "text")
		size := rapid.IntRange(4, 16).Draw(t, "size")
		pieces := Pieces(in, size)
		if strings.Join(pieces, "") != in {
			t.Errorf("%q is lost in %q", in, pieces)
		}
		for _, p := range pieces {
			if p == "" || len(p) > size || !utf8.ValidString(p) {
				t.Errorf("piece %q of %q", p, in)
			}
		}
	})
}
