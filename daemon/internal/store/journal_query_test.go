package store

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func TestBriefRowsAreThoseOfTheJournalWithoutLongBodies(t *testing.T) {
	f := newFixture(t)
	other := f.newRun(sdk.Run{})
	f.commit(known("known://short", "short"), known("known://long", strings.Repeat("é", 10)),
		sdk.Write{Path: "log://turn_1/bash/x", Writer: sdk.WriterSystem, State: sdk.StateStreaming})
	f.commit(sdk.Write{Path: "log://turn_1/bash/x", Writer: sdk.WriterSystem, Chunk: &sdk.Chunk{Channel: 1, Text: "out"}})
	for _, run := range []int64{0, f.run.ID, other.ID} {
		whole, err := f.Journal(t.Context(), sdk.JournalQuery{Run: run})
		if err != nil {
			t.Fatal(err)
		}
		brief, err := f.Journal(t.Context(), sdk.JournalQuery{Run: run, Longest: 19})
		if err != nil || len(brief) != len(whole) {
			t.Fatalf("%d rows of %d, %v", len(brief), len(whole), err)
		}
		for i, row := range brief {
			switch {
			case row.Hash != whole[i].Hash:
				t.Errorf("row %d differs", row.Seq)
			case row.Path == "known://long" && row.Body != nil, row.Path == "known://short" && (row.Body == nil || *row.Body != "short"),
				row.Kind == sdk.KindEntryChunk && (row.Body == nil || *row.Body != "out"):
				t.Errorf("row %d of %s has the body %v", row.Seq, row.Path, row.Body)
			}
		}
	}
	page, err := f.Journal(t.Context(), sdk.JournalQuery{After: 2, Limit: 2, Longest: 20})
	if err != nil || len(page) != 2 || page[0].Seq != 3 {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestNotesSpeakOfNoEntry(t *testing.T) {
	f := newFixture(t)
	f.commit(known("known://a", "a"))
	for _, n := range []sdk.Note{{Kind: "note.retry", Turn: 1, Data: map[string]int{"attempt": 1}}, {Kind: sdk.KindRunExpired}, {Kind: sdk.KindRunReset}} {
		if _, err := f.Commit(t.Context(), sdk.Change{Run: f.run.ID, Notes: []sdk.Note{n}}); err != nil {
			t.Fatal(err)
		}
	}
	f.refuse(sdk.Validation, sdk.Change{Notes: []sdk.Note{{Kind: sdk.KindRunCreated}}})
	rows, err := f.Journal(t.Context(), sdk.JournalQuery{Run: f.run.ID, Notes: true})
	var kinds []string
	for _, r := range rows {
		kinds = append(kinds, r.Kind)
	}
	if got := strings.Join(kinds, " "); err != nil || got != "run.created note.retry run.expired run.reset" || string(rows[1].Data) != `{"attempt":1}` {
		t.Errorf("%s, %v", got, err)
	}
	if rows, err = f.Journal(t.Context(), sdk.JournalQuery{Run: f.run.ID, Kinds: []string{sdk.KindRunExpired}}); err != nil || len(rows) != 1 || rows[0].Kind != sdk.KindRunExpired {
		t.Errorf("rows of one kind: %v, %v", rows, err)
	}
	for _, c := range []struct {
		kinds []string
		want  string
	}{{[]string{sdk.KindRunExpired, sdk.KindRunCreated}, sdk.KindRunExpired}, {[]string{sdk.KindTurnOpened}, ""}, {nil, sdk.KindRunReset}} {
		rows, err := f.Journal(t.Context(), sdk.JournalQuery{Run: f.run.ID, Kinds: c.kinds, Newest: true, Limit: 1, Heads: true})
		if got := append(rows, sdk.JournalRow{})[0].Kind; err != nil || got != c.want {
			t.Errorf("the newest of %v is %q, %v", c.kinds, got, err)
		}
	}
}

func TestRenameARun(t *testing.T) {
	f := newFixture(t)
	other := f.newRun(sdk.Run{Alias: "other"})
	got, err := f.RenameRun(t.Context(), f.run.ID, "better")
	if err != nil || got.Alias != "better" || got.Key != f.run.Key {
		t.Fatalf("%+v, %v", got, err)
	}
	if found, err := f.RunByAlias(t.Context(), f.run.Project, "better"); err != nil || found.ID != f.run.ID {
		t.Errorf("%+v, %v", found, err)
	}
	for alias, want := range map[string]sdk.Outcome{"other": sdk.Conflict, "": sdk.Validation, "a b": sdk.Validation, strings.Repeat("x", 65): sdk.Validation} {
		if _, err := f.RenameRun(t.Context(), f.run.ID, alias); sdk.OutcomeOf(err) != want || strings.Contains(err.Error(), "UNIQUE") {
			t.Errorf("%q: %v", alias, err)
		}
	}
	if _, err := f.RenameRun(t.Context(), 99, "x"); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Error(err)
	}
	seq := f.Seq()
	if _, err := f.RenameRun(t.Context(), other.ID, "other"); err != nil || f.Seq() != seq {
		t.Errorf("its own name: %v, seq %d after %d", err, f.Seq(), seq)
	}
	child := f.newRun(sdk.Run{Project: f.run.Project, Parent: f.run.ID})
	if forks, err := f.Forks(t.Context(), f.run.ID); err != nil || len(forks) != 1 || forks[0].ID != child.ID {
		t.Errorf("%+v, %v", forks, err)
	}
	f.verify()
}

// TestAuditTellsAllOfACall: what it was, whatever of it the end says, also once its
// entry is gone, and what it refers to as long as that is there.
func TestAuditTellsAllOfACall(t *testing.T) {
	f := newFixture(t)
	long := strings.Repeat("long ", 100)
	f.answerWithCalls("1", `{"text":"`+long+`"}`)
	end := func(path string) {
		f.commit(sdk.Write{Path: path, Writer: sdk.WriterSystem, Phase: sdk.PhaseEnded, State: sdk.StateResolved, Body: body("done"), Attributes: object(`{"took":1}`)})
	}
	end("log://turn_1/write/a")
	f.commit(sdk.Write{Path: "log://turn_2/write/b", Create: true, Writer: sdk.WriterSystem, State: sdk.StateStreaming, Phase: sdk.PhaseStarted, Attributes: object(`{"arguments":{"a":1},"tool":"write"}`)})
	end("log://turn_2/write/b")
	f.commit(sdk.Write{Path: "log://turn_3/write/c", Writer: sdk.WriterSystem, State: sdk.StateStreaming, Phase: sdk.PhaseStarted}) // which has not ended
	f.commit(known("known://a", "no action"))
	told := func(want ...string) {
		t.Helper()
		rows, err := f.Journal(t.Context(), sdk.JournalQuery{Audit: true})
		if err != nil || len(rows) != len(want) {
			t.Fatal(len(rows), err)
		}
		for i, r := range rows {
			var c sdk.EntryChange
			if err := json.Unmarshal(r.Data, &c); err != nil || string(c.Attributes) != want[i] || r.Body != nil {
				t.Errorf("the audit tells of %s %s, %v; want %s", r.Path, c.Attributes, err, want[i])
			}
		}
	}
	first, second := `{"arguments":{"text":"`+long+`"},"took":1,"tool":"write"}`, `{"arguments":{"a":1},"took":1,"tool":"write"}`
	told(first, second)
	for _, path := range []string{"log://turn_1/write/a", "log://turn_2/write/b"} {
		f.commit(sdk.Write{Path: path, Remove: true, Writer: sdk.WriterSystem})
	}
	told(first, second)
	f.commit(sdk.Write{Path: "assistant://1", Remove: true, Writer: sdk.WriterSystem})
	told(`{"refers":{"arguments":"assistant://1#/calls/0/arguments"},"took":1,"tool":"write"}`, second)
}

// TestGiven finds a prompt by its key, and where it stands in the journal.
func TestGiven(t *testing.T) {
	f := newFixture(t)
	var want sdk.Loop
	for _, key := range []string{"one", "two", "three"} {
		l, receipt, err := f.Enqueue(t.Context(), sdk.Loop{Run: f.run.ID, Prompt: key, Options: object(`{"key":"` + key + `"}`)})
		if err != nil {
			t.Fatal(err)
		}
		if got, seq, err := f.Given(t.Context(), key); err != nil || got.ID != l.ID || got.Prompt != key || seq != receipt.Seq {
			t.Errorf("%s is %+v at %d, %v; want the loop %d at %d", key, got, seq, err, l.ID, receipt.Seq)
		}
		want = l
	}
	if _, _, err := f.Given(t.Context(), "four"); sdk.OutcomeOf(err) != sdk.NotFound || want.ID == 0 {
		t.Error(err)
	}
	if plan := f.plan(givenQuery, "four"); !strings.Contains(plan, "loops_key") {
		t.Errorf("the plan is\n%s", plan)
	}
	for _, options := range []string{`{"key":1`, `key`} {
		if _, _, err := f.Enqueue(t.Context(), sdk.Loop{Run: f.run.ID, Options: json.RawMessage(options)}); sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("%s: %v", options, err)
		}
	}
}
