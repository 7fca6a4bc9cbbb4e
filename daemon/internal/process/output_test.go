package process

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"pgregory.net/rapid"
)

// ended is a pipe of a process that has ended, with what it left there; other is the end
// that somebody else still holds.
func ended(t *testing.T, left string) (p *pipe, other *os.File) {
	t.Helper()
	from, other, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = from.Close(), other.Close() })
	if _, err := other.WriteString(left); err != nil {
		t.Fatal(err)
	}
	if err := from.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	return &pipe{from: from}, other
}

// TestPipeOfTheDead: what lies in the pipe of a process that has ended is read, and nobody
// who still holds the other end is waited for.
func TestPipeOfTheDead(t *testing.T) {
	for name, c := range map[string]struct {
		left  string
		holds bool
	}{
		"last words, held":   {"last words", true},
		"last words":         {"last words", false},
		"nothing, held":      {"", true},
		"nothing":            {"", false},
		"more than one read": {strings.Repeat("x", 50_000), true},
	} {
		t.Run(name, func(t *testing.T) {
			p, other := ended(t, c.left)
			if !c.holds {
				if err := other.Close(); err != nil {
					t.Fatal(err)
				}
			}
			read, err := io.ReadAll(p)
			if err != nil || string(read) != c.left {
				t.Errorf("read %d bytes, want %d: %v", len(read), len(c.left), err)
			}
		})
	}
}

// TestPipeThatNeverEnds: of who writes on after the process has ended no more is read than
// is bearable.
func TestPipeThatNeverEnds(t *testing.T) {
	p, other := ended(t, "x")
	writing := make(chan struct{})
	go func() {
		defer close(writing)
		more := bytes.Repeat([]byte("y"), 4096)
		for {
			if _, err := other.Write(more); err != nil {
				return
			}
		}
	}()
	buffer, total := make([]byte, 4096), 0
	for {
		n, err := p.Read(buffer)
		total += n
		if errors.Is(err, io.EOF) { // the writer was slower for once
			continue
		}
		if err != nil {
			break
		}
	}
	if total < mostLeft || total > mostLeft+len(buffer) {
		t.Errorf("read %d bytes", total)
	}
	_, _ = p.from.Close(), other.Close()
	<-writing
}

// TestLinesInAnyPieces: how what a plugin writes is cut into writes changes nothing of its
// lines, and no line is longer than it may be.
func TestLinesInAnyPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab\n")), 0, 40, -1).Draw(t, "text")
		if rapid.Bool().Draw(t, "long") {
			at := rapid.IntRange(0, len(text)).Draw(t, "at")
			text = text[:at] + strings.Repeat("l", longestLine+rapid.IntRange(-2, 2).Draw(t, "over")) + text[at:]
		}
		logged := func(pieces ...string) string {
			var out bytes.Buffer
			l := NewLines(hclog.New(&hclog.LoggerOptions{Output: &out, DisableTime: true}))
			for _, piece := range pieces {
				if n, err := l.Write([]byte(piece)); n != len(piece) || err != nil {
					t.Fatal(n, err)
				}
			}
			l.Flush()
			return out.String()
		}
		var pieces []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		whole := logged(text)
		if cut := logged(pieces...); cut != whole {
			t.Errorf("in %d pieces %.300q, in one %.300q", len(pieces), cut, whole)
		}
		for line := range strings.Lines(whole) {
			if len(line) > len("[INFO]  ")+longestLine+1 {
				t.Errorf("a line has %d bytes", len(line))
			}
		}
	})
}

// TestDroppedIsToldByItself: who falls silent after a flood is told of all the same.
func TestDroppedIsToldByItself(t *testing.T) {
	out := &log{}
	l := NewLimit(hclog.New(&hclog.LoggerOptions{Output: out}))
	for l.Admit(bytesPerSecond / 2) {
	}
	eventually(t, "it is told", func() bool { return strings.Contains(out.String(), "lines were dropped: lines=1") })
	l.Report()
	if n := strings.Count(out.String(), "dropped:"); n != 1 {
		t.Errorf("it is told %d times: %s", n, out)
	}
}
