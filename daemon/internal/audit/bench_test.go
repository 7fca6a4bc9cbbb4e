package audit

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// longStory writes a loop of n turns with two calls each and 8 KB of text.
func (h *house) longStory(r sdk.Run, n int) {
	l := h.loop(r, "go")
	text := strings.Repeat("a line of text, as models write them\n", 110)
	for range n {
		turn := h.open(r, l)
		h.commit(sdk.Change{Run: r.ID, Writes: []sdk.Write{
			answer(turn, text[:2000]), started(turn, "read", "a", "c1", map[string]string{"path": "a"}), started(turn, "read", "b", "c2", map[string]string{"path": "b"}),
		}})
		h.commit(sdk.Change{Run: r.ID, CloseTurn: &sdk.Turn{Sequence: turn.Sequence}, Writes: []sdk.Write{
			ended(turn, "read", "a", text, "", nil), ended(turn, "read", "b", text[:2000], "", nil),
		}})
	}
	h.commit(sdk.Change{Run: r.ID, EndLoop: end(l, 200, "answer", "the model answered")})
}

// BenchmarkLines writes the runlog of a run of 300 turns from nothing.
func BenchmarkLines(b *testing.B) {
	h := newHouse(b)
	r := h.run()
	h.longStory(r, 300)
	var lines, bytes int64
	for b.Loop() {
		if err := os.RemoveAll(h.file(r)); err != nil {
			b.Fatal(err)
		}
		logs := Start(h.config)
		finish(b, logs)
		lines += logs.Lines()
		info, err := os.Stat(h.file(r))
		if err != nil {
			b.Fatal(err)
		}
		bytes += info.Size()
	}
	b.ReportMetric(float64(lines)/b.Elapsed().Seconds(), "lines/s")
	b.ReportMetric(float64(bytes)/b.Elapsed().Seconds()/1e6, "MB/s")
}

// BenchmarkStart finds the ends of the runlogs of 1,000 runs that rest.
func BenchmarkStart(b *testing.B) {
	h := newHouse(b)
	for range 1000 {
		r := h.run()
		l := h.loop(r, "go")
		turn := h.open(r, l)
		h.commit(sdk.Change{Run: r.ID, Writes: []sdk.Write{answer(turn, "done")}, CloseTurn: &sdk.Turn{Sequence: 1}, EndLoop: end(l, 200, "answer", "the model answered")})
	}
	h.logged()
	for b.Loop() {
		logs := Start(h.config)
		finish(b, logs)
		if logs.Lines() != 0 {
			b.Fatal(fmt.Sprint(logs.Lines(), " lines were missing"))
		}
	}
}

// BenchmarkRedactDump reads texts without a secret, which nearly all are, for four
// secrets: what stands in a log, and a dump of it.
func BenchmarkRedactDump(b *testing.B) {
	var r Redactor
	for _, secret := range []string{"sk-ant-api03-Zk8yQ2vLr7Xw", "ghs0c9d8e7f6a5b4c3d2e1f0a9b8c7d6", "correct horse battery staple", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"} {
		r.Add(secret)
	}
	plain := strings.Repeat("\tif err := s.found(start, end); err != nil { return fmt.Errorf(\"read %s: %w\", name, err) } // 2026-11-23T16:33:21Z 200\n", 500)
	var rows strings.Builder
	for i := 0; i < 16<<10; i += 16 {
		fmt.Fprintf(&rows, "%08x: %x  %s\n", i, plain[i:i+16], strings.ReplaceAll(plain[i:i+16], "\n", "."))
	}
	for _, c := range []struct{ name, text string }{{"text", plain}, {"dump", hexWords(rows.String())}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				if r.Redact(c.text) != c.text {
					b.Fatal("there is no secret in it")
				}
			}
		})
	}
}

// hexWords puts a blank behind every four digits of hex in a row, as xxd does.
func hexWords(rows string) string {
	var b strings.Builder
	for row := range strings.Lines(rows) {
		at, rest, _ := strings.Cut(row, " ")
		b.WriteString(at)
		for i := 0; i < 32; i += 4 {
			b.WriteString(" " + rest[i:i+4])
		}
		b.WriteString(rest[32:])
	}
	return b.String()
}
