package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// BenchmarkDelegation is a delegation from its start to its end over the same prompt as a run of its own, by the times of
// the journal: a prompt of five turns, with a model and tools that cost nothing.
func BenchmarkDelegation(b *testing.B) {
	steps := map[string][]step{}
	h := delegatingHouse(b, steps)
	h.start()
	var delegated, alone []time.Duration
	for n := 0; b.Loop(); n++ {
		task, own := fmt.Sprintf("task %d", n), fmt.Sprintf("own %d", n)
		for _, prompt := range []string{task, own} {
			for i := range 5 {
				steps[prompt] = append(steps[prompt], calls(numbered("read", i)))
			}
		}
		steps[fmt.Sprintf("ask %d", n)] = []step{calls(giving("worker", task))}
		a := h.submit(Submission{Agent: "lead", Prompt: fmt.Sprintf("ask %d", n)})
		h.await(a)
		delegated = append(delegated, h.delegationTimes(a)...)
		a = h.submit(Submission{Agent: "worker", Prompt: own})
		h.await(a)
		alone = append(alone, h.between(a.Run.ID, sdk.KindLoopQueued, sdk.KindLoopEnded))
	}
	b.ReportMetric(float64(middle(delegated))/float64(middle(alone)), "x-run")
}

// BenchmarkDelegationsTogether is four children at the same time against four in turn, whose model takes a second for
// an answer; the parent's own turns are left out.
func BenchmarkDelegationsTogether(b *testing.B) {
	slow := func(then step) step {
		return func(ctx context.Context, req sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
			time.Sleep(time.Second)
			return then(ctx, req, send, retry)
		}
	}
	steps := map[string][]step{}
	h := delegatingHouse(b, steps)
	h.start()
	var together, inTurn []time.Duration
	for n := 0; b.Loop(); n++ {
		var four []call
		for i := range 8 {
			task := fmt.Sprintf("task %d of %d", i, n)
			steps[task] = []step{slow(say("done"))}
			four = append(four, giving("worker", task))
		}
		steps[fmt.Sprintf("at once %d", n)] = []step{calls(four[:4]...)}
		steps[fmt.Sprintf("in turn %d", n)] = []step{calls(four[4]), calls(four[5]), calls(four[6]), calls(four[7])}
		a := h.submit(Submission{Agent: "lead", Prompt: fmt.Sprintf("at once %d", n)})
		h.await(a)
		together = append(together, slices.Max(h.delegationTimes(a)))
		a = h.submit(Submission{Agent: "lead", Prompt: fmt.Sprintf("in turn %d", n)})
		h.await(a)
		var all time.Duration
		for _, d := range h.delegationTimes(a) {
			all += d
		}
		inTurn = append(inTurn, all)
	}
	b.ReportMetric(float64(middle(together))/float64(middle(inTurn)), "x-in-turn")
}

// delegationTimes are how long the delegations of a prompt took, from the commit that starts one to that of its end.
func (h *house) delegationTimes(a Accepted) (all []time.Duration) {
	h.t.Helper()
	rows, err := h.store.Journal(context.Background(), sdk.JournalQuery{Run: a.Run.ID, Kinds: []string{sdk.KindEntrySet}})
	if err != nil {
		h.t.Fatal(err)
	}
	begun := map[string]time.Time{}
	for _, row := range rows {
		var c sdk.EntryChange
		switch err := json.Unmarshal(row.Data, &c); {
		case err != nil:
			h.t.Fatal(err)
		case c.Phase == sdk.PhaseStarted:
			begun[row.Path] = row.Time
		case c.Phase == sdk.PhaseEnded:
			all = append(all, row.Time.Sub(begun[row.Path]))
		}
	}
	return all
}

// between is the time from the first row of one kind in a run to the last of another.
func (h *house) between(run int64, from, to string) time.Duration {
	h.t.Helper()
	rows, err := h.store.Journal(context.Background(), sdk.JournalQuery{Run: run, Kinds: []string{from, to}})
	if err != nil || len(rows) < 2 {
		h.t.Fatal(rows, err)
	}
	return rows[len(rows)-1].Time.Sub(rows[0].Time)
}

func middle(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
