package store

import (
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// TestUsageOfDeletedRuns: what was used is told of all that answered, as the journal has it.
func TestUsageOfDeletedRuns(t *testing.T) {
	f := newFixture(t)
	began := time.Now()
	l := f.enqueue(f.run.ID, "the prompt")
	f.claim(f.run.ID)
	if _, err := f.Commit(t.Context(), sdk.Change{Run: f.run.ID, OpenTurn: &sdk.Turn{Loop: l.ID}}); err != nil {
		t.Fatal(err)
	}
	asked := sdk.PluginCompletion{Plugin: "p", Model: "b", Usage: &sdk.Usage{Prompt: 3, Completion: 1, Cost: new(0.0)}}
	vain := sdk.PluginCompletion{Plugin: "p", Model: "b", Error: "refused"}
	_, err := f.Commit(t.Context(), sdk.Change{Run: f.run.ID,
		Notes:     []sdk.Note{{Kind: sdk.KindNoteCompletion, Loop: l.ID, Data: asked}, {Kind: sdk.KindNoteCompletion, Loop: l.ID, Data: vain}},
		CloseTurn: &sdk.Turn{Sequence: 1, Model: "a", Usage: &sdk.Usage{Prompt: 10, Completion: 2, Cost: new(0.5), Estimated: true}, Finish: "stop"},
		EndLoop:   &sdk.LoopEnd{Loop: l.ID, Status: sdk.StatusOK, Stop: sdk.StopAnswer},
	})
	if err != nil {
		t.Fatal(err)
	}
	turns, err := f.Turns(t.Context(), f.run.ID)
	if err != nil || len(turns) != 1 || !turns[0].Usage.Estimated || *turns[0].Usage.Cost != 0.5 {
		t.Errorf("%+v %v", turns, err)
	}
	if _, err := f.DeleteRun(t.Context(), f.run.ID, "test"); err != nil {
		t.Fatal(err)
	}
	read := func(since time.Time) (all []sdk.Used) {
		if err := f.Usage(t.Context(), since, func(u sdk.Used) error { all = append(all, u); return nil }); err != nil {
			t.Fatal(err)
		}
		return all
	}
	all := read(began)
	if len(all) != 2 {
		t.Fatalf("%+v", all)
	}
	byModel := map[string]sdk.Used{all[0].Model: all[0], all[1].Model: all[1]}
	if a, b := byModel["a"], byModel["b"]; a.Run != f.run.ID || a.Project != f.run.Project || a.Plugin != "" || *a.Usage.Cost != 0.5 || b.Plugin != "p" || b.Usage.Cost == nil || *b.Usage.Cost != 0 {
		t.Errorf("%+v", all)
	}
	for since, want := range map[time.Time]int{
		{}:                                  2,
		time.Now().Add(time.Hour):           0,
		time.Unix(0, 0).AddDate(-470, 0, 0): 2, // its nanoseconds fit no number
		time.Unix(0, 0).AddDate(470, 0, 0):  0,
	} {
		if got := read(since); len(got) != want {
			t.Errorf("since %v: %+v", since, got)
		}
	}
	var plan strings.Builder
	err = f.query(t.Context(), "EXPLAIN QUERY PLAN "+usageQuery, []any{int64(0)}, func(scan scanner) error {
		var id, parent, unused int
		var detail string
		err := scan(&id, &parent, &unused, &detail)
		plan.WriteString(detail)
		return err
	})
	if err != nil || !strings.Contains(plan.String(), "journal_usage") {
		t.Errorf("the index is not used: %s %v", plan.String(), err)
	}
}
