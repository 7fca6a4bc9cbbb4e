package store

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// The table of docs/entries.md, Runs, loops, turns.
var transitions = map[int][]int{
	100: {102, 499},
	102: {200, 202, 500, 499},
	202: {102, 200, 499},
	200: {102, 499},
	500: {102, 499},
	499: {102},
}

// waysTo leads a fresh run to each status by allowed steps.
var waysTo = map[int][]int{100: {}, 102: {102}, 200: {102, 200}, 202: {102, 202}, 499: {499}, 500: {102, 500}}

func (f *fixture) move(run int64, to int) error {
	return f.update(f.t.Context(), "moving", func(t *tx) error {
		r, err := t.run(run)
		if err != nil {
			return err
		}
		return t.moveRun(&r, to)
	})
}

// spec: run_state_machine
func TestRunStateMachine(t *testing.T) {
	f := newFixture(t)
	for from, way := range waysTo {
		for to := range waysTo {
			allowed := from == to
			for _, next := range transitions[from] {
				allowed = allowed || next == to
			}
			t.Run(fmt.Sprintf("%d to %d", from, to), func(t *testing.T) {
				run := f.newRun(sdk.Run{})
				for _, step := range way {
					if err := f.move(run.ID, step); err != nil {
						t.Fatal(err)
					}
				}
				before := f.Seq()
				err := f.move(run.ID, to)
				if allowed != (err == nil) {
					t.Fatalf("allowed %v, got %v", allowed, err)
				}
				got, readErr := f.Run(t.Context(), run.ID)
				if readErr != nil {
					t.Fatal(readErr)
				}
				want, told := to, int64(1)
				if !allowed {
					want = from
				}
				if !allowed || from == to {
					told = 0
				}
				if !allowed && sdk.OutcomeOf(err) != sdk.Conflict {
					t.Errorf("outcome %s", sdk.OutcomeOf(err))
				}
				if got.Status != want || f.Seq()-before != told {
					t.Errorf("status %d, want %d; told %d rows, want %d", got.Status, want, f.Seq()-before, told)
				}
			})
		}
	}
	f.verify()
}

// The trigger holds for every statement, not only for those of this package.
// spec: run_state_machine
func TestTriggerHoldsAgainstPlainSQL(t *testing.T) {
	f := newFixture(t)
	if _, err := f.conn.ExecContext(t.Context(), `UPDATE runs SET status = 200 WHERE id = ?`, f.run.ID); err == nil {
		t.Fatal("100 became 200")
	}
	if _, err := f.conn.ExecContext(t.Context(), `UPDATE runs SET status = 404 WHERE id = ?`, f.run.ID); err == nil {
		t.Fatal("404 is no status of a run")
	}
}

func (f *fixture) enqueue(run int64, prompt string) sdk.Loop {
	f.t.Helper()
	l, _, err := f.Enqueue(f.t.Context(), sdk.Loop{Run: run, Prompt: prompt})
	if err != nil {
		f.t.Fatal(err)
	}
	return l
}

func (f *fixture) claim(run int64) sdk.Loop {
	f.t.Helper()
	l, ok, err := f.ClaimLoop(f.t.Context(), run)
	if err != nil || !ok {
		f.t.Fatalf("claim: %v %v", ok, err)
	}
	return l
}

func (f *fixture) end(run, loop int64, status int) error {
	_, err := f.Commit(f.t.Context(), sdk.Change{Run: run, EndLoop: &sdk.LoopEnd{Loop: loop, Status: status, Reason: "because", Stop: "answer"}})
	return err
}

// spec: loops_table
func TestLoopsAreAQueue(t *testing.T) {
	f := newFixture(t)
	one, two := f.enqueue(f.run.ID, "first"), f.enqueue(f.run.ID, "second")
	if one.Sequence != 1 || two.Sequence != 2 || one.Agent != "chat" || one.Model != "m" || one.Status != 100 {
		t.Fatalf("%+v %+v", one, two)
	}
	if r, _ := f.Run(t.Context(), f.run.ID); r.Status != 100 {
		t.Fatalf("a queued run has the status %d", r.Status)
	}
	e := f.entry("prompt://2")
	if e.Body != "second" || e.Writer != sdk.WriterPlugin || string(e.Attributes) != `{"mode":"act"}` || e.Loop != two.ID {
		t.Fatalf("%+v", e)
	}
	got := f.claim(f.run.ID)
	if got.ID != one.ID || got.Status != 102 || got.Prompt != "first" {
		t.Fatalf("claimed %+v", got)
	}
	if _, ok, err := f.ClaimLoop(t.Context(), f.run.ID); ok || err != nil {
		t.Fatalf("two loops of one run at once: %v %v", ok, err)
	}
	f.commit(known("known://during", "x"))
	if ids, err := f.Queued(t.Context()); err != nil || len(ids) != 1 || ids[0] != f.run.ID {
		t.Fatalf("queued %v %v", ids, err)
	}
	if ls, err := f.Unfinished(t.Context()); err != nil || len(ls) != 1 || ls[0].ID != one.ID {
		t.Fatalf("unfinished %v %v", ls, err)
	}
	if err := f.end(f.run.ID, one.ID, sdk.StatusNoContent); err != nil {
		t.Fatal(err)
	}
	if err := f.end(f.run.ID, one.ID, sdk.StatusOK); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Fatalf("ended twice: %v", err)
	}
	if r, _ := f.Run(t.Context(), f.run.ID); r.Status != 200 {
		t.Fatalf("204 left the run at %d", r.Status)
	}
	if got := f.claim(f.run.ID); got.ID != two.ID {
		t.Fatalf("claimed %+v", got)
	}
	all, err := f.Entries(t.Context(), sdk.EntryQuery{Run: f.run.ID})
	if err != nil || len(all) != 3 || all[1].Path != "known://during" || all[2].Path != "prompt://2" {
		t.Fatalf("the second prompt is not behind the first loop's work: %v %v", all, err)
	}
	ls, err := f.Loops(t.Context(), f.run.ID)
	if err != nil || len(ls) != 2 || ls[0].Status != 204 || ls[0].Reason != "because" || ls[0].Stop != "answer" || ls[0].Ended.IsZero() || ls[1].Prompt != "second" {
		t.Fatalf("%+v %v", ls, err)
	}
	f.verify()
}

// TestALoopBegins: a prompt for a run that rests is claimed in the commit that queues it, and its
// position is that before the claim; any other waits for its turn.
func TestALoopBegins(t *testing.T) {
	f := newFixture(t)
	begin := func() (sdk.Loop, sdk.Receipt) {
		t.Helper()
		l, r, err := f.Begin(t.Context(), sdk.Loop{Run: f.run.ID, Prompt: "p"})
		if err != nil {
			t.Fatal(err)
		}
		return l, r
	}
	before := f.Seq()
	one, r := begin()
	rows, err := f.Journal(t.Context(), sdk.JournalQuery{Run: f.run.ID, After: before})
	if err != nil || len(rows) < 3 || rows[0].Kind != sdk.KindLoopQueued || rows[1].Kind != sdk.KindEntrySet || rows[2].Kind != sdk.KindLoopStarted || rows[1].Seq != r.Seq || !rows[2].Time.Equal(rows[0].Time) {
		t.Fatalf("the position is %d, the rows %+v, %v", r.Seq, rows, err)
	}
	run, _ := f.Run(t.Context(), f.run.ID)
	if one.Status != sdk.StatusRunning || run.Status != sdk.StatusRunning {
		t.Fatalf("the loop has %d, its run %d", one.Status, run.Status)
	}
	two, _ := begin() // behind one that runs
	if err := f.end(f.run.ID, one.ID, sdk.StatusOK); err != nil {
		t.Fatal(err)
	}
	three, _ := begin() // behind one that waits
	if two.Status != sdk.StatusQueued || three.Status != sdk.StatusQueued || f.claim(f.run.ID).ID != two.ID {
		t.Fatalf("the second has %d, the third %d", two.Status, three.Status)
	}
	f.verify()
}

func TestHowALoopEndsTheRun(t *testing.T) {
	f := newFixture(t)
	for status, want := range map[int]int{200: 200, 204: 200, 413: 200, 422: 200, 499: 499, 500: 500} {
		run := f.newRun(sdk.Run{})
		f.enqueue(run.ID, "p")
		l := f.claim(run.ID)
		if err := f.end(run.ID, l.ID, status); err != nil {
			t.Fatal(err)
		}
		r, err := f.Run(t.Context(), run.ID)
		ls, _ := f.Loops(t.Context(), run.ID)
		if err != nil || r.Status != want || ls[0].Status != status {
			t.Errorf("%d: run %d, want %d, loop %d (%v)", status, r.Status, want, ls[0].Status, err)
		}
	}
	run := f.newRun(sdk.Run{})
	l := f.enqueue(run.ID, "p")
	if err := f.end(run.ID, l.ID, 200); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("a queued loop ended well: %v", err)
	}
	if err := f.end(run.ID, l.ID, 409); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("409: %v", err)
	}
	if err := f.end(f.run.ID, l.ID, 499); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("another run's loop: %v", err)
	}
	if err := f.end(run.ID, l.ID, 499); err != nil {
		t.Fatal(err)
	}
	if r, _ := f.Run(t.Context(), run.ID); r.Status != 499 {
		t.Errorf("a run whose only loop was given up has %d", r.Status)
	}
	if _, ok, err := f.ClaimLoop(t.Context(), run.ID); ok || err != nil {
		t.Errorf("claimed an aborted loop: %v %v", ok, err)
	}
}

func TestAFailureWhileAProposalWaits(t *testing.T) {
	f := newFixture(t)
	f.enqueue(f.run.ID, "p")
	l := f.claim(f.run.ID)
	err := f.move(f.run.ID, sdk.StatusProposed)
	if err == nil {
		err = f.end(f.run.ID, l.ID, sdk.StatusFailed)
	}
	if r, _ := f.Run(t.Context(), f.run.ID); err != nil || r.Status != 500 {
		t.Fatalf("%d %v", r.Status, err)
	}
}

func TestARunWaitsAndGoesOn(t *testing.T) {
	f := newFixture(t)
	f.refuse(sdk.Conflict, sdk.Change{Status: sdk.StatusProposed}) // it does not work yet
	f.enqueue(f.run.ID, "p")
	f.claim(f.run.ID)
	for _, to := range []int{202, 202, 102, 102, 202} {
		if _, err := f.Commit(t.Context(), sdk.Change{Run: f.run.ID, Status: to}); err != nil {
			t.Fatal(err)
		}
		if r, err := f.Run(t.Context(), f.run.ID); err != nil || r.Status != to {
			t.Fatalf("%d, want %d (%v)", r.Status, to, err)
		}
	}
	f.refuse(sdk.Conflict, sdk.Change{Status: sdk.StatusOK})
	f.verify()
}

func TestTurns(t *testing.T) {
	f := newFixture(t)
	l := f.enqueue(f.run.ID, "p")
	f.refuse(sdk.Conflict, sdk.Change{OpenTurn: &sdk.Turn{Loop: l.ID}})
	f.claim(f.run.ID)
	turn := &sdk.Turn{Loop: l.ID, Model: "a"}
	if _, err := f.Commit(t.Context(), sdk.Change{Run: f.run.ID, OpenTurn: turn}); err != nil {
		t.Fatal(err)
	}
	if turn.Sequence != 1 || turn.ID == 0 || turn.Run != f.run.ID || turn.Created.IsZero() {
		t.Fatalf("%+v", turn)
	}
	f.refuse(sdk.Conflict, sdk.Change{OpenTurn: &sdk.Turn{Loop: l.ID, Sequence: 3}})
	f.refuse(sdk.NotFound, sdk.Change{OpenTurn: &sdk.Turn{Loop: 99}})
	f.refuse(sdk.NotFound, sdk.Change{CloseTurn: &sdk.Turn{Sequence: 2}})
	usage := &sdk.Usage{Prompt: 10, Cached: 2, Completion: 5, Reasoning: 1, Total: 15, Cost: new(0.25)}
	for i, u := range []*sdk.Usage{usage, nil} {
		if i > 0 {
			if _, err := f.Commit(t.Context(), sdk.Change{Run: f.run.ID, OpenTurn: &sdk.Turn{Loop: l.ID}}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := f.Commit(t.Context(), sdk.Change{Run: f.run.ID, CloseTurn: &sdk.Turn{Sequence: i + 1, Usage: u, Finish: "stop", Duration: 1500e6}}); err != nil {
			t.Fatal(err)
		}
	}
	f.refuse(sdk.Conflict, sdk.Change{CloseTurn: &sdk.Turn{Sequence: 1}})
	ts, err := f.Turns(t.Context(), f.run.ID)
	if err != nil || len(ts) != 2 || ts[0].Usage == nil || !reflect.DeepEqual(ts[0].Usage, usage) || ts[1].Usage != nil || ts[0].Model != "a" || !ts[0].Closed || ts[0].Finish != "stop" || ts[0].Duration != 1500e6 {
		t.Fatalf("%+v %v", ts, err)
	}
	rows, err := f.Journal(t.Context(), sdk.JournalQuery{Run: f.run.ID})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"a","usage":{"prompt":10,"cached":2,"completion":5,"reasoning":1,"total":15,"cost":0.25},"finish":"stop","duration_ms":1500}`
	for _, r := range rows {
		if r.Kind == sdk.KindTurnClosed && r.Turn == 1 && string(r.Data) != want {
			t.Errorf("%s", r.Data)
		}
	}
	if r, _ := f.Run(t.Context(), f.run.ID); r.Turns != 2 {
		t.Errorf("%d turns", r.Turns)
	}
	f.verify()
}

// A tool call without a prompt has a turn of its own, opened and closed without
// a loop, in one commit when it was refused.
func TestTurnsWithoutALoop(t *testing.T) {
	f := newFixture(t)
	if _, err := f.Commit(t.Context(), sdk.Change{Run: f.run.ID, OpenTurn: &sdk.Turn{Sequence: 1}}); err != nil {
		t.Fatal(err)
	}
	// The open one is closed before the next one opens.
	if _, err := f.Commit(t.Context(), sdk.Change{Run: f.run.ID, OpenTurn: &sdk.Turn{Sequence: 2}, CloseTurn: &sdk.Turn{Sequence: 1}}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Commit(t.Context(), sdk.Change{Run: f.run.ID, OpenTurn: &sdk.Turn{Sequence: 3}, CloseTurn: &sdk.Turn{Sequence: 3}}); err != nil {
		t.Fatal(err)
	}
	ts, err := f.Turns(t.Context(), f.run.ID)
	if err != nil || len(ts) != 3 || ts[0].Loop != 0 || !ts[0].Closed || ts[1].Closed || !ts[2].Closed {
		t.Fatalf("%+v %v", ts, err)
	}
	rows, err := f.Journal(t.Context(), sdk.JournalQuery{Run: f.run.ID})
	if err != nil {
		t.Fatal(err)
	}
	var told string
	for _, r := range rows {
		if r.Kind == sdk.KindTurnOpened || r.Kind == sdk.KindTurnClosed {
			told += fmt.Sprintf("%s %d ", strings.TrimPrefix(r.Kind, "turn."), r.Turn)
		}
	}
	if want := "opened 1 closed 1 opened 2 opened 3 closed 3 "; told != want {
		t.Errorf("the journal tells %q, want %q", told, want)
	}
	f.verify()
}

// A look at one path must not walk all that the run sees.
func TestALookAtAPathDoesNotWalkTheRun(t *testing.T) {
	f := newFixture(t)
	plan := f.plan(`SELECT v.id FROM entries e CROSS JOIN run_views v ON v.entry = e.id AND v.run = ?1
		WHERE e.path = ?2 AND e.scope IN `+visibleScopes, f.run.ID, "known://a")
	if !strings.Contains(plan, "(scope=? AND path=?)") || !strings.Contains(plan, "(entry=? AND run=?)") {
		t.Errorf("the plan is\n%s", plan)
	}
}

// plan is how SQLite goes about a query.
func (f *fixture) plan(q string, args ...any) string {
	f.t.Helper()
	rows, err := f.conn.QueryContext(f.t.Context(), `EXPLAIN QUERY PLAN `+q, args...)
	if err != nil {
		f.t.Fatal(err)
	}
	defer rows.Close()
	var steps []string
	for rows.Next() {
		var a, b, c int
		var step string
		if err := rows.Scan(&a, &b, &c, &step); err != nil {
			f.t.Fatal(err)
		}
		steps = append(steps, step)
	}
	if err := rows.Err(); err != nil {
		f.t.Fatal(err)
	}
	return strings.Join(steps, "\n")
}
