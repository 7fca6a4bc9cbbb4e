package main

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestAnswersAreRead: an answer of the terminal is read whole, wherever the reads end; keys wait for nothing.
func TestAnswersAreRead(t *testing.T) {
	const answer = "\x1b]11;rgb:0000/0000/0000\x1b\\"
	for name, c := range map[string]struct{ writes, want []string }{
		"keys":                 {[]string{"a", "\x1b[A", "\x1b", "\x1b]", "\x1bP"}, []string{"a", "\x1b[A", "\x1b", "\x1b]", "\x1bP"}},
		"whole":                {[]string{"a" + answer + "b"}, []string{"a" + answer + "b"}},
		"its end is cut":       {[]string{"a" + answer[:len(answer)-1], "\\b"}, []string{"a", answer + "b"}},
		"cut twice":            {[]string{answer[:5], answer[5:9], answer[9:]}, []string{"", "", answer}},
		"by BEL":               {[]string{"\x1b]11;rgb:0/0/0", "\a"}, []string{"", "\x1b]11;rgb:0/0/0\a"}},
		"of the name":          {[]string{"\x1bP>|tmux 3.4", "\x1b", "\\"}, []string{"", "", "\x1bP>|tmux 3.4\x1b\\"}},
		"two":                  {[]string{answer + answer[:4], answer[4:]}, []string{answer, answer}},
		"a key ends it":        {[]string{"\x1b]11;rg", "\x1b[A"}, []string{"", "\x1b]11;rg\x1b[A"}},
		"Enter ends it":        {[]string{"\x1b]11;rg", "yes", "\r"}, []string{"", "", "\x1b]11;rgyes\r"}},
		"its end never comes":  {[]string{"\x1b]11;" + strings.Repeat("x", longestAnswer-5), "y"}, []string{"", "\x1b]11;" + strings.Repeat("x", longestAnswer-5) + "y"}},
		"longer than any":      {[]string{"\x1b]11;" + strings.Repeat("x", longestAnswer)}, []string{"\x1b]11;" + strings.Repeat("x", longestAnswer)}},
		"alt-] and then keys":  {[]string{"\x1b]", "late 1"}, []string{"\x1b]", "1"}},
		"Esc and then keys":    {[]string{"\x1b", "late ]", "1"}, []string{"\x1b", "]", "1"}},
		"its begin is cut":     {[]string{"\x1b", answer[1 : len(answer)-1], "\\a"}, []string{"\x1b", "", answer[1:] + "a"}},
		"cut at each place":    {[]string{"\x1b", "]", "1", "1;r", "late \x1b", "late \\"}, []string{"\x1b", "]", "", "", "", "11;r\x1b\\"}},
		"a key of two bytes":   {[]string{"\x1bP", "x"}, []string{"\x1bP", "x"}},
		"Esc behind an answer": {[]string{answer + "\x1b"}, []string{answer + "\x1b"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, w := pipe(t)
			var clock time.Time
			s := &stdin{File: r, now: func() time.Time { return clock }}
			for i, text := range c.writes {
				text, late := strings.CutPrefix(text, "late ")
				if late {
					clock = clock.Add(escTime)
				}
				if _, err := w.WriteString(text); err != nil {
					t.Fatal(err)
				}
				b := make([]byte, 4096)
				n, err := s.Read(b)
				if err != nil || string(b[:n]) != c.want[i] {
					t.Errorf("read %d is %q, %v, not %q", i+1, b[:n], err, c.want[i])
				}
			}
		})
	}
}

// TestNothingIsLostOfWhatIsRead: all that is written is read, in its order, also at the end.
func TestNothingIsLostOfWhatIsRead(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		texts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "\x1b", "]", "P", "11;", "1", ">", "\\", "\a", "\r", "é", "rgb:", strings.Repeat("x", 40)}), 1, 40).Draw(rt, "texts")
		r, w := pipe(t)
		var clock time.Time
		s := &stdin{File: r, now: func() time.Time { return clock }}
		var read strings.Builder
		for _, text := range texts {
			clock = clock.Add(rapid.SampledFrom([]time.Duration{0, escTime}).Draw(rt, "pause"))
			if _, err := w.WriteString(text); err != nil {
				rt.Fatal(err)
			}
			b := make([]byte, 4096)
			n, err := s.Read(b)
			if err != nil {
				rt.Fatal(err)
			}
			read.Write(b[:n])
			if len(s.begun) > longestAnswer {
				rt.Fatalf("%d bytes wait", len(s.begun))
			}
		}
		_ = w.Close()
		b := make([]byte, 4096)
		n, err := s.Read(b)
		read.Write(b[:n])
		if err != io.EOF || read.String() != strings.Join(texts, "") {
			rt.Fatalf("%q, %v", read.String(), err)
		}
	})
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}
