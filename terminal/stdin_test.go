package main

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestAnswersAreRead: an answer of the terminal is read whole, wherever its pieces end, and what is none waits for nothing
// but for what may be behind an ESC.
func TestAnswersAreRead(t *testing.T) {
	const answer = "\x1b]11;rgb:0000/0000/0000\x1b\\"
	for name, c := range map[string]struct {
		pieces []string // that come while more is waited for
		want   string
		waits  []time.Duration
	}{
		"a key":                {[]string{"a", "b"}, "a", nil},
		"an arrow":             {[]string{"\x1b[A", "b"}, "\x1b[A", nil},
		"Esc":                  {[]string{"\x1b"}, "\x1b", []time.Duration{escTime}},
		"alt-]":                {[]string{"\x1b]"}, "\x1b]", []time.Duration{escTime}},
		"alt-] and a letter":   {[]string{"\x1b]", "x", "y"}, "\x1b]x", []time.Duration{escTime}},
		"alt-P and a letter":   {[]string{"\x1bPx", "y"}, "\x1bPx", nil},
		"whole":                {[]string{"a" + answer + "b", "c"}, "a" + answer + "b", nil},
		"its end is cut":       {[]string{"a" + answer[:len(answer)-1], "\\b", "c"}, "a" + answer + "b", []time.Duration{answerTime}},
		"cut everywhere":       {strings.Split(answer, ""), answer, slices.Concat([]time.Duration{escTime, escTime}, slices.Repeat([]time.Duration{answerTime}, len(answer)-3))},
		"by BEL":               {[]string{"\x1b]11;rgb:0/0/0", "\a", "a"}, "\x1b]11;rgb:0/0/0\a", []time.Duration{answerTime}},
		"by ST of one byte":    {[]string{"\x1b]11;rgb:0/0/0", "\x9c", "a"}, "\x1b]11;rgb:0/0/0\x9c", []time.Duration{answerTime}},
		"of the name":          {[]string{"\x1bP>|tmux 3.4", "\x1b", "\\", "a"}, "\x1bP>|tmux 3.4\x1b\\", []time.Duration{answerTime, answerTime}},
		"two":                  {[]string{answer + answer[:4], answer[4:], "a"}, answer + answer, []time.Duration{answerTime}},
		"a key within it":      {[]string{"\x1b]11;rg", "\x1b[A", "a"}, "\x1b]11;rg\x1b[A", []time.Duration{answerTime}},
		"Ctrl-C within it":     {[]string{"\x1b]11;rg", "\x03", "a"}, "\x1b]11;rg\x03", []time.Duration{answerTime}},
		"a slow line":          {[]string{"\x1b]11;", "slow rgb", "slow :0"}, "\x1b]11;rgb:0", []time.Duration{answerTime, answerTime / 2}},
		"its end never comes":  {[]string{"\x1b]11;rg"}, "\x1b]11;rg", []time.Duration{answerTime}},
		"Esc behind an answer": {[]string{answer + "\x1b"}, answer + "\x1b", []time.Duration{escTime}},
	} {
		t.Run(name, func(t *testing.T) {
			s, waits := comesAs(t, c.pieces)
			b := make([]byte, 4096)
			n, err := s.Read(b)
			if err != nil || string(b[:n]) != c.want || !slices.Equal(*waits, c.waits) {
				t.Errorf("%q, %v, waited for %v; want %q, %v", b[:n], err, *waits, c.want, c.waits)
			}
		})
	}
}

// TestNothingIsLostOfWhatIsRead: all that comes is read, in its order, and then its end.
func TestNothingIsLostOfWhatIsRead(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "\x1b", "]", "P", "11;", "1", ">", "\\", "\a", "\r", "é", "rgb:", strings.Repeat("x", 40)}), 1, 40).Draw(rt, "pieces")
		size := rapid.IntRange(1, 100).Draw(rt, "size")
		r, w := pipe(t)
		go func() {
			for _, p := range pieces {
				_, _ = w.WriteString(p)
			}
			_ = w.Close()
		}()
		s := &stdin{File: r, more: func(*os.File, time.Duration) bool { return true }, now: time.Now}
		read, err := io.ReadAll(struct{ io.Reader }{readerOf(func(b []byte) (int, error) { return s.Read(b[:min(len(b), size)]) })})
		if err != nil || string(read) != strings.Join(pieces, "") {
			rt.Fatalf("%q, %v", read, err)
		}
	})
}

// TestComes: what can be read is noticed, and that nothing comes.
func TestComes(t *testing.T) {
	r, w := pipe(t)
	if comes(r, time.Millisecond) {
		t.Error("nothing came")
	}
	if _, err := w.WriteString("a"); err != nil {
		t.Fatal(err)
	}
	if !comes(r, time.Minute) {
		t.Error("it came")
	}
}

type readerOf func([]byte) (int, error)

// Read implements io.Reader.
func (r readerOf) Read(b []byte) (int, error) { return r(b) }

// comesAs is a terminal whose first piece is there, and whose others each come when more is waited for, and for how long
// that was.
func comesAs(t *testing.T, pieces []string) (*stdin, *[]time.Duration) {
	t.Helper()
	r, w := pipe(t)
	var clock time.Time
	next := func() bool {
		if len(pieces) == 0 {
			return false
		}
		piece, slow := strings.CutPrefix(pieces[0], "slow ")
		if slow {
			clock = clock.Add(answerTime / 2)
		}
		if _, err := w.WriteString(piece); err != nil {
			t.Error(err)
		}
		pieces = pieces[1:]
		return true
	}
	next()
	var waits []time.Duration
	return &stdin{File: r, more: func(_ *os.File, wait time.Duration) bool {
		waits = append(waits, wait)
		return next()
	}, now: func() time.Time { return clock }}, &waits
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
