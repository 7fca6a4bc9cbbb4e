package store

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// work gives a run a loop with a turn and an action, and ends it.
func (f *fixture) work(run int64, prompt string) sdk.Loop {
	f.t.Helper()
	f.enqueue(run, prompt)
	l := f.claim(run)
	turn := sdk.Turn{Loop: l.ID}
	path := fmt.Sprintf("log://turn_%d/bash/%s", turn.Sequence, prompt)
	for _, c := range []sdk.Change{
		{OpenTurn: &turn, Writes: []sdk.Write{
			{Path: path, Body: body("output of " + prompt), Writer: sdk.WriterSystem, Phase: sdk.PhaseEnded, Attributes: object(`{"tool":"bash"}`)},
			known("known://"+prompt, "a fact of "+prompt),
		}},
		{CloseTurn: &turn, EndLoop: &sdk.LoopEnd{Loop: l.ID, Status: sdk.StatusOK}},
	} {
		c.Run = run
		if _, err := f.Commit(f.t.Context(), c); err != nil {
			f.t.Fatal(err)
		}
	}
	return l
}

func (f *fixture) delete(run int64) sdk.Receipt {
	f.t.Helper()
	r, err := f.DeleteRun(f.t.Context(), run, "it rested for 31 days")
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

// sees lists what a run sees, path and body.
func (f *fixture) sees(run int64) []string {
	f.t.Helper()
	all, err := f.Entries(f.t.Context(), sdk.EntryQuery{Run: run})
	if err != nil {
		f.t.Fatal(err)
	}
	var out []string
	for _, e := range all {
		out = append(out, e.Path+" "+e.Body)
	}
	return out
}

func (f *fixture) count(q string, args ...any) (n int64) {
	f.t.Helper()
	if err := f.conn.QueryRowContext(f.t.Context(), q, args...).Scan(&n); err != nil {
		f.t.Fatal(err)
	}
	return n
}

func TestDeletedRunIsGoneAndItsJournalVerifies(t *testing.T) {
	f := newFixture(t)
	f.work(f.run.ID, "one")
	before := f.Seq()
	r := f.delete(f.run.ID)
	if r.Seq != before+1 || f.Seq() != r.Seq {
		t.Errorf("the receipt says %d, the journal was at %d and is at %d", r.Seq, before, f.Seq())
	}
	f.verify()
	if _, err := f.Run(t.Context(), f.run.ID); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("by id: %v", err)
	}
	if _, err := f.RunByAlias(t.Context(), f.project.ID, f.run.Alias); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("by alias: %v", err)
	}
	if all, err := f.Runs(t.Context(), sdk.RunFilter{Hidden: true}); err != nil || len(all) != 0 {
		t.Errorf("listed: %v %v", all, err)
	}
	if _, err := f.DeleteRun(t.Context(), f.run.ID, "again"); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("deleted twice: %v", err)
	}
	f.refuse(sdk.NotFound, sdk.Change{Writes: []sdk.Write{known("known://x", "x")}})
	for _, table := range []string{"entries", "run_views", "loops", "turns", "chunks"} {
		if n := f.count(`SELECT count(*) FROM ` + table); n != 0 {
			t.Errorf("%s still has %d rows", table, n)
		}
	}
	rows, err := f.Journal(t.Context(), sdk.JournalQuery{After: before, Run: f.run.ID})
	if err != nil || len(rows) != 1 || rows[0].Kind != sdk.KindRunDeleted || string(rows[0].Data) != `{"reason":"it rested for 31 days"}` {
		t.Errorf("told as %+v (%v)", rows, err)
	}
	checkIntegrity(t, f.Store)
}

func TestIdsOfDeletedRunsAreNotUsedAgain(t *testing.T) {
	f := newFixture(t)
	used := map[string]map[int64]bool{"runs": {}, "loops": {}, "turns": {}}
	run := f.run
	for range 4 {
		l := f.work(run.ID, "one")
		turns, err := f.Turns(t.Context(), run.ID)
		if err != nil {
			t.Fatal(err)
		}
		for what, id := range map[string]int64{"runs": run.ID, "loops": l.ID, "turns": turns[0].ID} {
			if used[what][id] {
				t.Fatalf("the id %d of %s came again", id, what)
			}
			used[what][id] = true
		}
		f.delete(run.ID)
		run = f.newRun(sdk.Run{Alias: run.Alias, Agent: "chat", Model: "m"}) // its alias is free
	}
	f.verify()
}

func TestRunAtWorkCannotBeDeleted(t *testing.T) {
	f := newFixture(t)
	refused := func(when string) {
		t.Helper()
		before := f.Seq()
		if _, err := f.DeleteRun(t.Context(), f.run.ID, "no"); sdk.OutcomeOf(err) != sdk.Conflict || f.Seq() != before {
			t.Fatalf("%s: %v", when, err)
		}
	}
	l := f.enqueue(f.run.ID, "one")
	refused("queued")
	f.claim(f.run.ID)
	refused("running")
	if _, err := f.Commit(t.Context(), sdk.Change{Run: f.run.ID, EndLoop: &sdk.LoopEnd{Loop: l.ID, Status: sdk.StatusOK}}); err != nil {
		t.Fatal(err)
	}
	turn := sdk.Turn{}
	if _, err := f.Commit(t.Context(), sdk.Change{Run: f.run.ID, OpenTurn: &turn}); err != nil {
		t.Fatal(err)
	}
	refused("in a tool call")
	if _, err := f.Commit(t.Context(), sdk.Change{Run: f.run.ID, CloseTurn: &turn}); err != nil {
		t.Fatal(err)
	}
	f.delete(f.run.ID)
}

func TestForksKeepWhatTheySee(t *testing.T) {
	f := newFixture(t)
	f.work(f.run.ID, "one")
	child := f.newRun(sdk.Run{Parent: f.run.ID})
	f.work(child.ID, "two")
	grandchild := f.newRun(sdk.Run{Parent: child.ID})
	f.commit(known("known://late", "nobody inherits this"))
	want, of := f.sees(child.ID), f.sees(grandchild.ID)
	f.delete(f.run.ID)
	if got := f.sees(child.ID); !slices.Equal(got, want) || len(want) != 6 {
		t.Fatalf("the child sees %q, saw %q", got, want)
	}
	f.delete(child.ID)
	if got := f.sees(grandchild.ID); !slices.Equal(got, of) {
		t.Fatalf("the grandchild sees %q, saw %q", got, of)
	}
	e, err := f.Entry(t.Context(), grandchild.ID, "known://one")
	if err != nil || e.Body != "a fact of one" {
		t.Fatalf("by path: %+v %v", e, err)
	}
	// What it changes becomes its own, as always.
	c := sdk.Change{Run: grandchild.ID, Writes: []sdk.Write{known("known://one", "mine"), known("known://two", "mine too")}}
	if _, err := f.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	f.verify()
	if n := f.count(`SELECT count(*) FROM entries`); n != 6 {
		t.Fatalf("%d entries are left, want the grandchild's two and what it sees of the elders, without the two that it wrote over", n)
	}
	f.delete(grandchild.ID)
	if n := f.count(`SELECT count(*) FROM entries`); n != 0 {
		t.Fatalf("%d entries are left", n)
	}
	f.verify()
	checkIntegrity(t, f.Store)
}

// TestWhatIsSharedStays: an entry of a project or of everybody needs no run that sees it.
func TestWhatIsSharedStays(t *testing.T) {
	f := newFixture(t)
	for _, x := range []sdk.Scheme{{Name: "fact", Scope: "global"}, {Name: "team", Scope: "project"}} {
		if err := f.RegisterScheme(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	streaming := known("team://d", "")
	streaming.State = sdk.StateStreaming
	f.commit(known("fact://a", "for all"), known("team://b", "for the project"), known("known://c", "mine"), streaming)
	f.commit(sdk.Write{Path: "team://d", Writer: sdk.WriterModel, Chunk: &sdk.Chunk{Channel: 1, Text: "half"}})
	f.commit(sdk.Write{Path: "fact://a", Writer: sdk.WriterModel, Remove: true})
	f.delete(f.newRun(sdk.Run{}).ID)
	if n := f.count(`SELECT count(*) FROM entries`); n != 4 {
		t.Fatalf("%d entries are left", n)
	}
	f.delete(f.run.ID)
	if n := f.count(`SELECT count(*) FROM entries`); n != 3 || f.count(`SELECT count(*) FROM chunks`) != 1 {
		t.Fatalf("%d entries are left", n)
	}
	f.verify()
}

// TestAForkLosesTheLastView: what a deleted run had shared goes when its last fork removes it, or writes over it.
func TestAForkLosesTheLastView(t *testing.T) {
	f := newFixture(t)
	f.commit(known("known://a", "x"), known("known://b", "x"), known("known://c", "x"))
	one, two := f.newRun(sdk.Run{Parent: f.run.ID}), f.newRun(sdk.Run{Parent: f.run.ID})
	f.delete(f.run.ID)
	for i, w := range []sdk.Write{known("known://a", "y"), {Path: "known://b", Writer: sdk.WriterModel, Remove: true}} {
		for n, run := range []sdk.Run{one, two} {
			if _, err := f.Commit(t.Context(), sdk.Change{Run: run.ID, Writes: []sdk.Write{w}}); err != nil {
				t.Fatal(err)
			}
			if left := f.count(`SELECT count(*) FROM entries WHERE scope = 'run:' || ?`, f.run.ID); left != int64(3-i-n) {
				t.Errorf("step %d of fork %d leaves %d entries", i, n, left)
			}
		}
	}
	f.verify()
	checkIntegrity(t, f.Store)
}

// TestUnseenOfEarlierVersions: what no run saw when the schema changed is gone.
func TestUnseenOfEarlierVersions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bothy.db")
	schema1(t, path)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`INSERT INTO entries (id, scope, path, body, hash, created) VALUES (900, 'run:99', 'known://x', 'x', zeroblob(32), 1), (901, 'global', 'known://y', 'y', zeroblob(32), 1);
		INSERT INTO chunks (seq, entry, channel, text) VALUES (900, 900, 1, 'x')`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	var left int
	if err := s.conn.QueryRowContext(t.Context(), `SELECT group_concat(id) FROM entries WHERE id >= 900`).Scan(&left); err != nil || left != 901 {
		t.Errorf("%d is left (%v)", left, err)
	}
	checkIntegrity(t, s)
}

func TestResting(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	f := newFixture(t)
	f.clock = func() time.Time { return now }
	at := func(days int) { now = time.Unix(1_000_000, 0).AddDate(0, 0, days) }
	at(0)
	first, hidden, busy, waiting, calling := f.newRun(sdk.Run{Alias: "first"}), f.newRun(sdk.Run{Hidden: true}), f.newRun(sdk.Run{}), f.newRun(sdk.Run{}), f.newRun(sdk.Run{})
	f.work(first.ID, "one")
	f.enqueue(busy.ID, "x")
	f.claim(busy.ID)
	f.enqueue(waiting.ID, "x")
	turn := sdk.Turn{}
	if _, err := f.Commit(t.Context(), sdk.Change{Run: calling.ID, OpenTurn: &turn}); err != nil {
		t.Fatal(err)
	}
	at(3)
	later := f.newRun(sdk.Run{Alias: "later"})
	f.work(later.ID, "two")
	resting := func(before int) (ids []int64) {
		t.Helper()
		at(before)
		all, err := f.Resting(t.Context(), now)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			if r.ID != f.run.ID { // made by the system's clock
				ids = append(ids, r.ID)
			}
		}
		return ids
	}
	for before, want := range map[int][]int64{0: nil, 2: {first.ID, hidden.ID}, 9: {first.ID, hidden.ID, later.ID}} {
		if got := resting(before); !slices.Equal(got, want) {
			t.Errorf("before day %d: %v, want %v", before, got, want)
		}
	}
	f.delete(first.ID)
	if got := resting(9); !slices.Equal(got, []int64{hidden.ID, later.ID}) {
		t.Errorf("a deleted run rests: %v", got)
	}
}

func TestNotesThatMayBeWritten(t *testing.T) {
	f := newFixture(t)
	for _, kind := range []string{sdk.KindNote, "note.retry", sdk.KindRunReset, sdk.KindRunExpired} {
		if _, err := f.Commit(t.Context(), sdk.Change{Run: f.run.ID, Notes: []sdk.Note{{Kind: kind}}}); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	for _, kind := range []string{"", "notes", sdk.KindRunDeleted, sdk.KindRunStatus, sdk.KindEntrySet} {
		f.refuse(sdk.Validation, sdk.Change{Notes: []sdk.Note{{Kind: kind}}})
	}
	f.verify()
}
