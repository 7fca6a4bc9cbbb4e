package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// history is what daemons have acknowledged, whoever was told: each journal row
// that a follower was sent, and each answer to a call. Nothing of it may be
// gone or different after a crash.
type history struct {
	mu        sync.Mutex
	rows      map[int64]sdk.JournalRow // by seq
	sent      []string                 // the last rows in the order of their coming, for people
	at        int64                    // the highest position that an answer named
	followers []*followed
	loops     []acceptedLoop
	ended     map[string]string // what is over for good, and how: loops and actions
	done      map[string]bool   // steps of plans
	faults    []string
}

// followed is what one follower has seen, in its order.
type followed struct {
	name  string
	run   int64 // 0 is all
	after int64
	seqs  []int64
}

type acceptedLoop struct {
	rpc.Accepted
	prompt string
}

func newHistory() *history {
	return &history{rows: map[int64]sdk.JournalRow{}, ended: map[string]string{}, done: map[string]bool{}}
}

// follower adds one; it has seen nothing yet.
func (h *history) follower(name string, run, after int64) *followed {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := &followed{name: name, run: run, after: after}
	h.followers = append(h.followers, f)
	return f
}

// row takes what a follower was sent.
func (h *history) row(f *followed, r sdk.JournalRow) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f.seqs = append(f.seqs, r.Seq)
	known, seen := h.rows[r.Seq]
	if seen && !sameRow(known, r) {
		h.faults = append(h.faults, fmt.Sprintf("%s was sent another row %d: %s, and before: %s", f.name, r.Seq, brief(r), brief(known)))
	}
	if !seen {
		h.rows[r.Seq] = r
		h.sent = append(h.sent, brief(r))
	}
	h.at = max(h.at, r.Seq)
}

// position takes a position of the journal that an answer named.
func (h *history) position(seq int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = max(h.at, seq)
}

// accepted takes the answer to a prompt.
func (h *history) accepted(a rpc.Accepted, prompt string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.loops = append(h.loops, acceptedLoop{a, prompt})
	h.at = max(h.at, a.Seq)
}

// over takes that something has ended. It ends once, and never otherwise.
func (h *history) over(what, how string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if before, ok := h.ended[what]; ok && before != how {
		h.faults = append(h.faults, fmt.Sprintf("%s had ended as %s, and now as %s", what, before, how))
	}
	h.ended[what] = how
}

// detail takes the description of a run.
func (h *history) detail(d rpc.RunDetail) {
	for _, l := range d.Loops {
		if !l.Ended.IsZero() {
			h.over(fmt.Sprintf("loop %d", l.ID), fmt.Sprint(l.Status))
		}
	}
	for _, e := range d.History {
		if strings.HasPrefix(e.Path, "log://") && e.State.Ended() {
			h.over(fmt.Sprintf("run %d %s", d.ID, e.Path), string(e.State)+" "+string(e.Outcome))
		}
	}
	h.marked(d)
	h.position(d.Seq)
}

// called takes the result of a tool call that a client made.
func (h *history) called(run int64, d rpc.ToolDone) {
	state := sdk.StateResolved
	if !d.Result.Success {
		state = sdk.StateFailed
	}
	h.over(fmt.Sprintf("run %d %s", run, d.Path), string(state)+" "+string(d.Result.Outcome))
}

// check compares the whole journal with what was acknowledged, and returns what
// is wrong.
func (h *history) check(journal []sdk.JournalRow) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	faults := append(slices.Clone(h.faults), unchained(journal)...)
	complain := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	bySeq := map[int64]sdk.JournalRow{}
	queued, ended := map[int64]sdk.JournalRow{}, map[string]string{}
	for _, r := range journal {
		bySeq[r.Seq] = r
		switch {
		case r.Kind == sdk.KindLoopQueued:
			queued[r.Loop] = r
		case r.Kind == sdk.KindLoopEnded:
			ended[fmt.Sprintf("loop %d", r.Loop)] = fmt.Sprint(decoded[sdk.LoopEnd](r).Status)
		case r.Kind == sdk.KindEntrySet && strings.HasPrefix(r.Path, "log://"):
			if c := decoded[sdk.EntryChange](r); c.State.Ended() {
				ended[fmt.Sprintf("run %d %s", r.Run, r.Path)] = string(c.State) + " " + string(c.Outcome)
			}
		}
	}
	if last := int64(len(journal)); last < h.at {
		complain("the journal ends at %d, and %d was acknowledged", last, h.at)
	}
	for _, seq := range slices.Sorted(maps.Keys(h.rows)) {
		if now, ok := bySeq[seq]; !ok {
			complain("row %d is lost: %s", seq, brief(h.rows[seq]))
		} else if !sameRow(now, h.rows[seq]) {
			complain("row %d is %s, and was sent as %s", seq, brief(now), brief(h.rows[seq]))
		}
	}
	for _, l := range h.loops {
		if r, ok := queued[l.Loop]; !ok || r.Run != l.ID || r.Seq > l.Seq {
			complain("loop %d of run %d was accepted at %d, and the journal has %s", l.Loop, l.ID, l.Seq, brief(r))
		}
	}
	for what, how := range h.ended {
		if now, ok := ended[what]; !ok || now != how {
			complain("%s had ended as %q; the journal says %q", what, how, now)
		}
	}
	for _, f := range h.followers {
		faults = append(faults, f.check(journal)...)
	}
	return faults
}

// check finds what a follower was not sent, or not in order.
func (f *followed) check(journal []sdk.JournalRow) []string {
	if len(f.seqs) == 0 {
		return nil
	}
	var want []int64
	last := f.seqs[len(f.seqs)-1]
	for _, r := range journal {
		if r.Seq > f.after && r.Seq <= last && (f.run == 0 || r.Run == f.run) {
			want = append(want, r.Seq)
		}
	}
	for i := range max(len(want), len(f.seqs)) {
		if i >= len(want) || i >= len(f.seqs) || want[i] != f.seqs[i] {
			return []string{fmt.Sprintf("%s was not sent the journal in order from its row %d on: %v, want %v", f.name, i, few(f.seqs, i), few(want, i))}
		}
	}
	return nil
}

func few(seqs []int64, from int) []int64 { return seqs[min(from, len(seqs)):min(from+5, len(seqs))] }

// unchained finds where the journal is no chain from its first row on.
func unchained(journal []sdk.JournalRow) []string {
	prev := ""
	for i, r := range journal {
		if r.Seq != int64(i)+1 {
			return []string{fmt.Sprintf("row %d follows row %d", r.Seq, i)}
		}
		if i > 0 && r.Prev != prev {
			return []string{fmt.Sprintf("row %d does not name the hash before it", r.Seq)}
		}
		prev = r.Hash
		if r.Body == nil || r.Kind == sdk.KindEntryChunk {
			continue
		}
		if sum := sha256.Sum256([]byte(*r.Body)); hex.EncodeToString(sum[:]) != r.BodyHash {
			return []string{fmt.Sprintf("row %d (%s) has a body that is not the one it names", r.Seq, r.Path)}
		}
	}
	return nil
}

// sameRow compares what never changes of a row: its body may be overwritten.
func sameRow(a, b sdk.JournalRow) bool {
	return a.Seq == b.Seq && a.Time.Equal(b.Time) && a.Kind == b.Kind && a.Project == b.Project && a.Run == b.Run && a.Loop == b.Loop &&
		a.Turn == b.Turn && a.Path == b.Path && a.BodyHash == b.BodyHash && a.Prev == b.Prev && a.Hash == b.Hash
}

func decoded[T any](r sdk.JournalRow) T {
	var v T
	_ = json.Unmarshal(r.Data, &v) // a row of another form says nothing
	return v
}

// brief is a row on one line.
func brief(r sdk.JournalRow) string {
	data := string(r.Data)
	return fmt.Sprintf("%d %s run %d loop %d turn %d %s %s", r.Seq, r.Kind, r.Run, r.Loop, r.Turn, r.Path, data[:min(len(data), 160)])
}

// tail is the last rows that anybody was sent.
func (h *history) tail(n int) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.sent[max(0, len(h.sent)-n):], "\n")
}

// TestHistoryFindsLosses keeps the checker itself honest: it knows a journal,
// and finds each way in which that can have lost or changed something.
func TestHistoryFindsLosses(t *testing.T) {
	journal := func() []sdk.JournalRow {
		rows := []sdk.JournalRow{
			{Kind: sdk.KindRunCreated, Run: 1}, {Kind: sdk.KindLoopQueued, Run: 1, Loop: 1},
			{Kind: sdk.KindEntrySet, Run: 2, Path: "log://turn_1/x/y", Data: []byte(`{"state":"resolved"}`)},
			{Kind: sdk.KindLoopEnded, Run: 1, Loop: 1, Data: []byte(`{"status":200}`)},
		}
		for i := range rows {
			rows[i].Seq, rows[i].Hash = int64(i)+1, fmt.Sprint("hash ", i+1)
			if i > 0 {
				rows[i].Prev = rows[i-1].Hash
			}
		}
		return rows
	}
	known := func() *history {
		h := newHistory()
		all, one := h.follower("all", 0, 0), h.follower("one", 1, 1)
		for _, r := range journal() {
			h.row(all, r)
			if r.Run == 1 && r.Seq > 1 {
				h.row(one, r)
			}
		}
		h.accepted(rpc.Accepted{ID: 1, Loop: 1, Seq: 2}, "do it")
		h.over("loop 1", "200")
		h.called(2, rpc.ToolDone{Path: "log://turn_1/x/y", Result: sdk.ToolResult{Success: true}})
		return h
	}
	if faults := known().check(journal()); len(faults) > 0 {
		t.Fatalf("a journal that is whole: %q", faults)
	}
	for name, c := range map[string]struct {
		spoil func(h *history, journal []sdk.JournalRow) []sdk.JournalRow
		says  string
	}{
		"lost end":     {func(_ *history, j []sdk.JournalRow) []sdk.JournalRow { return j[:3] }, "row 4 is lost"},
		"lost middle":  {func(_ *history, j []sdk.JournalRow) []sdk.JournalRow { return slices.Delete(j, 1, 2) }, "follows"},
		"another row":  {func(_ *history, j []sdk.JournalRow) []sdk.JournalRow { j[3].Hash = "x"; return j }, "was sent as"},
		"broken chain": {func(_ *history, j []sdk.JournalRow) []sdk.JournalRow { j[2].Prev = "x"; return j }, "hash before"},
		"another body": {func(_ *history, j []sdk.JournalRow) []sdk.JournalRow { j[0].Body = new(string); return j }, "body"},
		"position":     {func(h *history, j []sdk.JournalRow) []sdk.JournalRow { h.position(9); return j }, "9 was acknowledged"},
		"lost loop":    {func(h *history, j []sdk.JournalRow) []sdk.JournalRow { h.loops[0].Loop = 5; return j }, "loop 5 of run 1"},
		"another end":  {func(h *history, j []sdk.JournalRow) []sdk.JournalRow { h.over("loop 1", "499"); return j }, "had ended"},
		"lost action":  {func(h *history, j []sdk.JournalRow) []sdk.JournalRow { h.over("run 2 log://z", "resolved "); return j }, "log://z"},
		"lost mark": {func(h *history, j []sdk.JournalRow) []sdk.JournalRow {
			h.marked(rpc.RunDetail{ID: 1, Plan: []sdk.PlanStep{{Number: 2, Status: sdk.PlanDone}}})
			h.marked(rpc.RunDetail{ID: 1, Plan: []sdk.PlanStep{{Number: 2, Status: sdk.PlanDoing}}})
			return j
		}, "step 2 of run 1 was done"},
		"gap": {func(h *history, j []sdk.JournalRow) []sdk.JournalRow {
			h.followers[0].seqs = []int64{1, 2, 4}
			return j
		}, "in order"},
		"sent twice": {func(h *history, j []sdk.JournalRow) []sdk.JournalRow { h.row(h.followers[1], j[3]); return j }, "in order"},
		"told otherwise": {func(h *history, j []sdk.JournalRow) []sdk.JournalRow {
			r := j[3]
			r.Hash = "x"
			h.row(h.followers[0], r)
			return j
		}, "another row"},
	} {
		h := known()
		rows := c.spoil(h, journal())
		if faults := strings.Join(h.check(rows), "\n"); !strings.Contains(faults, c.says) {
			t.Errorf("%s: found %q, want %q", name, faults, c.says)
		}
	}
}
