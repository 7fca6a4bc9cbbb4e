package store

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/timeline"
)

// aStep is a write of a step; without a text it marks one.
func aStep(path, text, attributes string) sdk.Write {
	w := sdk.Write{Path: path, Attributes: object(attributes), Writer: sdk.WriterSystem}
	if text != "" {
		w.Body = &text
	}
	return w
}

// planOf is the plan of a run, which what its rows tell has to be.
func (f *fixture) planOf(run int64) string {
	f.t.Helper()
	entries, err := f.Entries(f.t.Context(), sdk.EntryQuery{Run: run, Pattern: planPaths})
	if err != nil {
		f.t.Fatal(err)
	}
	rows, err := f.Journal(f.t.Context(), sdk.JournalQuery{Run: run})
	if err != nil {
		f.t.Fatal(err)
	}
	says := func(steps []sdk.PlanStep) string {
		var lines []string
		for _, s := range steps {
			lines = append(lines, s.Line())
		}
		return strings.Join(lines, ", ")
	}
	has, told := says(sdk.PlanOf(entries)), says(timeline.Of(rows).Plan)
	if has != told {
		f.t.Errorf("the rows of run %d tell the plan %q, and it is %q", run, told, has)
	}
	return has
}

// TestForkOfAPlan: a fork has the steps as they were after its turn, and no plan where another has taken the place of that.
func TestForkOfAPlan(t *testing.T) {
	long := strings.Repeat("because ", 30)
	note := func(s string) string {
		raw, _ := json.Marshal(s)
		return string(raw)
	}
	f := newFixture(t)
	f.commit(aStep("plan://1", "a", `{"status":"open"}`), aStep("plan://2", "b", `{"status":"open"}`), aStep("plan://3", "c", `{"status":"not_asked"}`))
	one := f.enqueue(f.run.ID, "first")
	f.claim(f.run.ID)
	f.turnOf(f.run.ID, one.ID, answer(1), aStep("plan://1", "", `{"status":"doing","note":`+note(long)+`}`))
	f.turnOf(f.run.ID, one.ID, answer(2), aStep("plan://1", "", `{"status":"done","note":null}`), aStep("plan://2", "", `{"status":"doing","note":`+note(long)+`}`))
	f.turnOf(f.run.ID, one.ID, answer(3), aStep("plan://4", "d", `{"status":"open"}`))
	fork := func(run int64, turn int) sdk.Run {
		t.Helper()
		child, err := f.CreateRun(t.Context(), sdk.Run{Project: f.run.Project, Parent: run, Turns: turn})
		if err != nil {
			t.Fatalf("after turn %d: %v", turn, err)
		}
		return child
	}
	begun := "⧗ 2. b (in progress): " + sdk.Excerpt(long)
	forks := map[int]int64{}
	for turn, want := range map[int]string{
		1: "⧗ 1. a (in progress), ○ 2. b, - 3. c (not asked for)", // its note is not kept
		2: "✓ 1. a, " + begun + ", - 3. c (not asked for)",
		3: "✓ 1. a, " + begun + ", - 3. c (not asked for), ○ 4. d",
	} {
		child := fork(f.run.ID, turn).ID
		if got := f.planOf(child); got != want {
			t.Errorf("after turn %d it has %s", turn, got)
		}
		forks[turn] = child
	}
	// Each goes its own way, and a fork can be forked where it begins.
	f.commit(aStep("plan://2", "", `{"status":"dropped","note":null}`))
	if _, err := f.Commit(t.Context(), sdk.Change{Run: forks[2], Writes: []sdk.Write{aStep("plan://2", "", `{"status":"done","note":null}`)}}); err != nil {
		t.Fatal(err)
	}
	for run, want := range map[int64]string{
		f.run.ID:             "✓ 1. a, ✗ 2. b (dropped), - 3. c (not asked for), ○ 4. d",
		forks[2]:             "✓ 1. a, ✓ 2. b, - 3. c (not asked for)",
		forks[3]:             "✓ 1. a, " + begun + ", - 3. c (not asked for), ○ 4. d",
		fork(forks[2], 2).ID: "✓ 1. a, ⧗ 2. b (in progress), - 3. c (not asked for)",
		fork(f.run.ID, 3).ID: "✓ 1. a, ⧗ 2. b (in progress), - 3. c (not asked for), ○ 4. d",
		fork(f.run.ID, 0).ID: "✓ 1. a, ✗ 2. b (dropped), - 3. c (not asked for), ○ 4. d",
	} {
		if got := f.planOf(run); got != want {
			t.Errorf("run %d has %s", run, got)
		}
	}
	// Another plan.
	f.commit(aStep("plan://1", "x", `{"status":"open"}`), sdk.Write{Path: "plan://4", Remove: true, Writer: sdk.WriterSystem})
	if got := f.planOf(fork(f.run.ID, 3).ID); got != "" {
		t.Errorf("it has %s", got)
	}
	f.verify()
}
