package store

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// takeTurns commits what the engine commits for turns with one command each:
// the opening with the close of the turn before, the answer with the action as
// started, and the action's end. It returns the bytes that the file grew by.
func takeTurns(t testing.TB, turns, text int) int64 {
	t.Helper()
	f := newFixture(t)
	f.enqueue(f.run.ID, "the prompt")
	l := f.claim(f.run.ID)
	before := f.size()
	answer := strings.Repeat("words of ", text/9+1)[:text]
	var last *sdk.Turn
	for i := 1; i <= turns; i++ {
		turn := sdk.Turn{Loop: l.ID, Model: "ollama/qwen3:8b"}
		if _, err := f.Commit(t.Context(), sdk.Change{Run: f.run.ID, OpenTurn: &turn, CloseTurn: last}); err != nil {
			t.Fatal(err)
		}
		path := fmt.Sprintf("log://turn_%d/bash/go_test", i)
		f.commit(
			sdk.Write{
				Path: fmt.Sprintf("assistant://%d", i), Body: &answer, Writer: sdk.WriterSystem, State: sdk.StateResolved, Loop: l.ID, Turn: i,
				Attributes: object(`{"calls":[{"id":"call_0123456789abcdef","tool":"bash","arguments":"{\"command\":\"go test ./...\"}"}],` +
					`"finish":"calls","model":"ollama/qwen3:8b","usage":{"prompt":1000,"completion":20,"total":1020}}`),
			},
			sdk.Write{
				Path: path, Create: true, Writer: sdk.WriterSystem, Loop: l.ID, Turn: i, State: sdk.StateStreaming, Phase: sdk.PhaseStarted,
				Attributes: object(`{"call_id":"call_0123456789abcdef","tool":"bash","arguments":{"command":"go test ./..."},"index":0,"plugin":"bash",` +
					`"decision":{"verdict":"allow","rule":"sandbox","reason":"it runs in the container of the run"}}`),
			})
		f.commit(sdk.Write{
			Path: path, Writer: sdk.WriterSystem, Expect: sdk.PhaseStarted, Phase: sdk.PhaseEnded, State: sdk.StateResolved, Body: body("ok"), Loop: l.ID, Turn: i,
			Attributes: object(`{"metadata":{"exit_code":0,"stdout":"ok","stderr":""},"duration_ms":120}`),
		})
		turn.Usage, turn.Finish = &sdk.Usage{Prompt: 1000, Completion: 20, Total: 1020}, "calls"
		last = &turn
	}
	return f.size() - before
}

// size is that of the file with all that its log holds.
func (f *fixture) size() int64 {
	f.t.Helper()
	if _, err := f.conn.ExecContext(f.t.Context(), `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		f.t.Fatal(err)
	}
	info, err := os.Stat(f.path)
	if err != nil {
		f.t.Fatal(err)
	}
	return info.Size()
}

// The most that a turn may cost in the file.
const (
	emptyTurn = 6 << 10 // without an answer's text
	timesText = 2       // as often as a turn's 8 KB of text
)

func TestBytesPerTurn(t *testing.T) {
	const turns = 60
	for text, most := range map[int]int64{0: emptyTurn, 8 << 10: timesText * (8 << 10)} {
		if each := takeTurns(t, turns, text) / turns; each > most {
			t.Errorf("a turn with %d bytes of text takes %d bytes; the most is %d", text, each, most)
		}
	}
}

// BenchmarkBytesPerTurn reports what a turn adds to the file.
func BenchmarkBytesPerTurn(b *testing.B) {
	for _, text := range []int{0, 8 << 10} {
		b.Run(fmt.Sprint(text), func(b *testing.B) {
			const turns = 100
			var bytes int64
			for b.Loop() {
				bytes = takeTurns(b, turns, text)
			}
			b.ReportMetric(float64(bytes)/turns, "bytes/turn")
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/turns*1e3, "ms/turn")
		})
	}
}
