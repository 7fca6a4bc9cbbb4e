package audit

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// cutStore is a store with one run, whose journal goes only so far.
type cutStore struct {
	Store
	run sdk.Run
	seq int64
}

func (s cutStore) Runs(_ context.Context, f sdk.RunFilter) ([]sdk.Run, error) {
	return []sdk.Run{s.run}[min(f.Offset, 1):], nil
}

func (s cutStore) Seq() int64 { return s.seq }

func (s cutStore) Journal(ctx context.Context, q sdk.JournalQuery) ([]sdk.JournalRow, error) {
	rows, err := s.Store.Journal(ctx, q)
	for i, row := range rows {
		if row.Seq > s.seq {
			return rows[:i], err
		}
	}
	return rows, err
}

// anyStory writes some loops of a run, with whatever a model and tools may do.
func (h *house) anyStory(t *rapid.T, r sdk.Run) {
	outcome := rapid.SampledFrom([]sdk.Outcome{"", "", sdk.Exit(1), sdk.Permission, sdk.Aborted, sdk.Interrupted, sdk.Timeout})
	body := rapid.SampledFrom([]string{"", "ok", "two\nlines", "é\x00\u2028<&>", strings.Repeat("x", 30<<10)})
	for range rapid.IntRange(1, 3).Draw(t, "loops") {
		l := h.loop(r, "prompt "+body.Draw(t, "prompt"))
		for range rapid.IntRange(0, 2).Draw(t, "turns") {
			turn := h.open(r, l)
			change := sdk.Change{Run: r.ID, Writes: []sdk.Write{answer(turn, body.Draw(t, "answer"))}}
			n := rapid.IntRange(0, 3).Draw(t, "actions")
			for i := range n {
				change.Writes = append(change.Writes, started(turn, "read", fmt.Sprint(i), fmt.Sprint("c", i), map[string]string{"path": body.Draw(t, "argument")}))
			}
			if rapid.Bool().Draw(t, "warned") {
				change.Notes = []sdk.Note{{Kind: "note.warning", Loop: l.ID, Turn: turn.Sequence, Data: map[string]string{"message": "careful"}}, {Kind: "note.progress"}}
			}
			h.commit(change)
			change = sdk.Change{Run: r.ID, CloseTurn: &sdk.Turn{Sequence: turn.Sequence}}
			for i := range n {
				change.Writes = append(change.Writes, ended(turn, "read", fmt.Sprint(i), body.Draw(t, "result"), outcome.Draw(t, "outcome"), nil))
			}
			h.commit(change)
		}
		stop := rapid.SampledFrom([]string{"answer", "failed", "window", "terminal"}).Draw(t, "stop")
		h.commit(sdk.Change{Run: r.ID, EndLoop: end(l, map[string]int{"answer": 200, "terminal": 200, "failed": 500, "window": 499}[stop], stop, "because")})
	}
}

// TestAnyCrash: a daemon that dies at any row of the journal, with its last
// write cut at any byte, any number of times, leaves the file that one daemon
// would have written in one go: no line twice, none missing.
func TestAnyCrash(t *testing.T) {
	h := newHouse(t)
	rapid.Check(t, func(rt *rapid.T) {
		r := h.run()
		first := h.store.Seq()
		h.anyStory(rt, r)
		whole := h.config
		whole.Store = cutStore{h.store, r, h.store.Seq()}
		finish(t, Start(whole))
		want := h.text(r)
		if err := os.Remove(h.file(r)); err != nil {
			rt.Fatal(err)
		}
		rows := first
		for range rapid.IntRange(1, 4).Draw(rt, "crashes") {
			cfg := h.config
			rows = rapid.Int64Range(rows, h.store.Seq()).Draw(rt, "rows")
			cfg.Store = cutStore{h.store, r, rows}
			finish(t, Start(cfg))
			info, err := os.Stat(h.file(r))
			if err != nil {
				rt.Fatal(err)
			}
			kept := rapid.Int64Range(max(0, info.Size()-int64(rapid.SampledFrom([]int{0, 3, 300, 1 << 20}).Draw(rt, "lost"))), info.Size()).Draw(rt, "kept")
			if err := os.Truncate(h.file(r), kept); err != nil {
				rt.Fatal(err)
			}
		}
		finish(t, Start(whole))
		if got := h.text(r); got != want {
			rt.Fatalf("%d bytes, want %d\ngot  %s\nwant %s", len(got), len(want), kinds(parse(t, got)), kinds(parse(t, want)))
		}
	})
}
