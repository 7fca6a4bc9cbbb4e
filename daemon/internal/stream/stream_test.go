package stream

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// still is where nothing is committed.
func still() To { return To{Redacting: func() Pieces { return Clear{} }} }

func TestStreamIsBounded(t *testing.T) {
	s := still().Output(1, sdk.Action{}, nil)
	s.timer = time.NewTimer(time.Hour) // nothing is flushed
	defer s.timer.Stop()
	for range 200 {
		if err := s.Chunk(1, []byte(strings.Repeat("x", 100<<10))); err != nil {
			t.Fatal(err)
		}
	}
	if s.size > maxPending || len(s.sent) > 2*maxSent+100<<10 {
		t.Errorf("%d bytes wait, %d are kept", s.size, len(s.sent))
	}
	if sent := s.Close(false); len(sent) != maxSent {
		t.Errorf("%d bytes of the end", len(sent))
	}
}

// TestWordsThatWaitAreNotCopied: while a commit takes long, what a model sends
// word by word costs its length and not its square.
func TestWordsThatWaitAreNotCopied(t *testing.T) {
	s := still().Output(1, sdk.Action{}, nil)
	s.timer = time.NewTimer(time.Hour) // the next commit is far off
	word := []byte("word")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 16 << 10 {
		if err := s.Chunk(1, word); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 {
		t.Errorf("64 KB of words took %d MB of memory", took>>20)
	}
	if len(s.pending) != 1 || string(s.pending[0].text) != strings.Repeat("word", 16<<10) {
		t.Errorf("%d pieces wait", len(s.pending))
	}
}
