package store

import (
	"path/filepath"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestOriginOfRuns: what names none is of whoever works at this machine, a fork has its parent's, and a list may be of one channel.
func TestOriginOfRuns(t *testing.T) {
	f := newFixture(t)
	ada := sdk.Origin{Owner: "chat/ada", Channel: "chat"}
	made := func(r sdk.Run) sdk.Run {
		t.Helper()
		r.Project, r.Agent = f.run.Project, "default"
		r, err := f.CreateRun(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := f.Run(t.Context(), r.ID)
		if err != nil || again.Origin != r.Origin {
			t.Errorf("%+v is read as %+v, %v", r.Origin, again.Origin, err)
		}
		return r
	}
	for range 3 {
		if r := made(sdk.Run{}); r.Origin != (sdk.Origin{Owner: sdk.LocalOwner}) {
			t.Errorf("it is of %+v", r.Origin)
		}
	}
	of := made(sdk.Run{Origin: ada})
	if of.Alias != "chat_default-1" {
		t.Errorf("its alias is %s, which tells of others", of.Alias)
	}
	if fork := made(sdk.Run{Parent: of.ID, Origin: sdk.Origin{Owner: sdk.LocalOwner}}); fork.Origin != ada {
		t.Errorf("a fork is of %+v", fork.Origin)
	}
	list, err := f.Runs(t.Context(), sdk.RunFilter{Channel: "chat"})
	if err != nil || len(list) != 2 {
		t.Errorf("the channel has %d runs, %v", len(list), err)
	}
}

// TestRunsOfChannelsFromBeforeAreNobodys, since nobody knows who had written in them.
func TestRunsOfChannelsFromBeforeAreNobodys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bothy.db")
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	old := &Store{path: path}
	if err := old.connectWriter(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := migrate(t.Context(), old.conn, path, steps[:12]); err != nil {
		t.Fatal(err)
	}
	_, err = old.conn.ExecContext(t.Context(), `INSERT INTO projects (id, name, root, created) VALUES (1, 'p', '/p', 1);
		INSERT INTO runs (id, project, alias, key, agent, model, private, created, updated) VALUES (1, 1, 'mine', 'a', 'default', '', 0, 1, 1), (2, 1, 'chat', 'b', 'default', '', 1, 1, 1)`)
	if err != nil {
		t.Fatal(err)
	}
	if err := old.disconnect(); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	for id, want := range map[int64]sdk.Origin{1: {Owner: sdk.LocalOwner}, 2: {Owner: "?", Channel: "?"}} {
		if r, err := s.Run(t.Context(), id); err != nil || r.Origin != want {
			t.Errorf("run %d is of %+v, %v", id, r.Origin, err)
		}
	}
}
