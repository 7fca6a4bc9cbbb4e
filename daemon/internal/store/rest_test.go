package store

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// TestRest: a rest reaches what was said since the last one, once, and each plugin is owed it until it heard.
func TestRest(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	f := newFixture(t)
	f.clock = func() time.Time { return now }
	run := f.newRun(sdk.Run{Alias: "talk"})
	rest := func(why string, plugins ...string) bool {
		t.Helper()
		rested, err := f.Rest(t.Context(), run.ID, why, plugins)
		if err != nil {
			t.Fatal(err)
		}
		return rested
	}
	owes := func(want ...sdk.OwedRest) {
		t.Helper()
		if got, err := f.Owed(t.Context()); err != nil || !slices.Equal(got, want) {
			t.Fatalf("owes %+v (%v), want %+v", got, err, want)
		}
	}
	unrested := func(which sdk.Unrested, want ...int64) {
		t.Helper()
		got, err := f.Unrested(t.Context(), now, which)
		if err != nil {
			t.Fatal(err)
		}
		var ids []int64
		for _, r := range got {
			ids = append(ids, r.ID)
		}
		if !slices.Equal(ids, want) {
			t.Fatalf("%s: %v, want %v", which, ids, want)
		}
	}
	if plan := f.plan(unrestedQuery, 1, "here"); !strings.Contains(plan, "runs_unrested") {
		t.Errorf("each minute all runs are looked through: %s", plan)
	}
	if rest(sdk.RestIdle, "memory") {
		t.Error("a run without prompts rests")
	}
	f.work(run.ID, "one")
	f.work(run.ID, "two")
	unrested(sdk.UnrestedHere)
	now = now.Add(time.Hour)
	unrested(sdk.UnrestedHere, run.ID)
	unrested(sdk.UnrestedChannels)
	unrested(sdk.UnrestedLeft)

	f.enqueue(run.ID, "three")
	if _, err := f.Rest(t.Context(), run.ID, sdk.RestIdle, nil); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("a run with a prompt that waits: %v", err)
	}
	if err := f.end(run.ID, f.claim(run.ID).ID, 200); err != nil {
		t.Fatal(err)
	}
	if err := f.Leave(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Second)
	unrested(sdk.UnrestedLeft, run.ID)
	first := sdk.OwedRest{Run: run.ID, Plugin: "memory", From: 1, To: 3, Why: sdk.RestLeft}
	other := first
	other.Plugin = "diary"
	if !rest(sdk.RestLeft, "memory", "diary") {
		t.Error("it does not rest")
	}
	owes(other, first)
	unrested(sdk.UnrestedHere)
	if rest(sdk.RestIdle, "memory") {
		t.Error("it rests twice")
	}
	f.work(run.ID, "four")
	rest(sdk.RestReset, "memory")
	second := sdk.OwedRest{Run: run.ID, Plugin: "memory", From: 4, To: 4, Why: sdk.RestReset}
	owes(other, first, second)
	for range 2 {
		if err := f.Heard(t.Context(), first); err != nil {
			t.Fatal(err)
		}
	}
	owes(other, second)
	f.delete(run.ID)
	owes()
	if err := f.Heard(t.Context(), second); err != nil {
		t.Errorf("of a run that is gone: %v", err)
	}
}

// TestConversation: a conversation goes on in the run that was given a prompt last, until that rests or is left.
func TestConversation(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	f := newFixture(t)
	f.clock = func() time.Time { now = now.Add(time.Second); return now }
	ada := sdk.Origin{Owner: "chat/1", Channel: "chat"}
	const talk = "person/1"
	goesOn := func(want int64) {
		t.Helper()
		got, found, err := f.Conversation(t.Context(), f.run.Project, ada, talk)
		if err != nil || found != (want != 0) || got.ID != want {
			t.Fatalf("it goes on in %d (%v), want %d", got.ID, err, want)
		}
	}
	begin := func(of sdk.Origin, conversation string) int64 {
		return f.newRun(sdk.Run{Origin: of, Conversation: conversation, Private: true}).ID
	}
	begin(sdk.Origin{Owner: "chat/2", Channel: "chat"}, talk)
	begin(sdk.Origin{Owner: ada.Owner, Channel: "other"}, talk)
	begin(ada, talk+"/topic")
	goesOn(0)
	first := begin(ada, talk)
	goesOn(first)
	f.work(first, "one")
	goesOn(first)
	if _, err := f.Rest(t.Context(), first, sdk.RestIdle, nil); err != nil {
		t.Fatal(err)
	}
	goesOn(0)
	second := begin(ada, talk)
	f.work(second, "two")
	goesOn(second)
	f.work(first, "resumed")
	goesOn(first)
	if err := f.Leave(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	goesOn(second)
	runs, err := f.Runs(t.Context(), sdk.RunFilter{Of: &sdk.Conversation{Origin: ada, Name: talk}, Limit: 5})
	if err != nil || len(runs) != 2 || runs[0].ID != first || runs[1].ID != second {
		t.Errorf("lists %v (%v)", sdk.Aliases(runs), err)
	}
}

// TestRunsFromBeforeHaveRested: of what was said before rests were there nobody is told, but of a prompt that waited then.
func TestRunsFromBeforeHaveRested(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bothy.db")
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	old := &Store{path: path}
	if err := old.connectWriter(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := migrate(t.Context(), old.conn, path, steps[:13]); err != nil {
		t.Fatal(err)
	}
	_, err = old.conn.ExecContext(t.Context(), `INSERT INTO projects (id, name, root, created) VALUES (1, 'p', '/p', 1);
		INSERT INTO runs (id, project, alias, key, agent, model, loops, created, updated) VALUES (1, 1, 'over', 'a', 'default', '', 3, 1, 1), (2, 1, 'waits', 'b', 'default', '', 2, 1, 1);
		INSERT INTO loops (id, run, sequence, model, agent, status, created) VALUES (1, 1, 3, '', 'default', 200, 1), (2, 2, 1, '', 'default', 200, 1), (3, 2, 2, '', 'default', 100, 1)`)
	if err != nil {
		t.Fatal(err)
	}
	if err := old.disconnect(); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	if rested, err := s.Rest(t.Context(), 1, sdk.RestIdle, nil); err != nil || rested {
		t.Errorf("what was over rests: %v, %v", rested, err)
	}
	var rested int
	if err := s.conn.QueryRowContext(t.Context(), `SELECT rested FROM runs WHERE id = 2`).Scan(&rested); err != nil || rested != 1 {
		t.Errorf("the run in which a prompt waits has rested up to %d, %v", rested, err)
	}
}
