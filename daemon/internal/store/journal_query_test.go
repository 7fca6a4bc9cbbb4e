package store

import (
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
