package store

import (
	"path/filepath"
	"slices"
	"strings"
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
	for id, want := range map[int64]sdk.Origin{1: {Owner: sdk.LocalOwner}, 2: {Owner: "?2", Channel: "?"}} {
		if r, err := s.Run(t.Context(), id); err != nil || r.Origin != want {
			t.Errorf("run %d is of %+v, %v", id, r.Origin, err)
		}
	}
}

// TestWhatIsOfAnOwner: entries of the scope owner are found, read and searched by runs of that owner alone, its forks and
// children among them, also where strangers write; the same path of another owner is another entry.
func TestWhatIsOfAnOwner(t *testing.T) {
	f := newFixture(t)
	if err := f.RegisterScheme(t.Context(), sdk.Scheme{Name: "fact", Category: sdk.CategoryData, Scope: "owner", ModelVisible: true}); err != nil {
		t.Fatal(err)
	}
	if err := f.RegisterScheme(t.Context(), sdk.Scheme{Name: "shared", Category: sdk.CategoryData, Scope: "global", ModelVisible: true}); err != nil {
		t.Fatal(err)
	}
	if err := f.RegisterScheme(t.Context(), sdk.Scheme{Name: "fact", Category: sdk.CategoryData, Scope: "global", ModelVisible: true}); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("a scheme becomes everybody's: %v", err)
	}
	made := func(r sdk.Run) sdk.Run {
		t.Helper()
		r.Project, r.Agent, r.Private = f.run.Project, "default", r.Channel != ""
		r, err := f.CreateRun(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	ada, bob, group := sdk.Origin{Owner: "chat/ada", Channel: "chat"}, sdk.Origin{Owner: "chat/bob", Channel: "chat"}, sdk.Origin{Owner: "chat/group/ada", Channel: "chat"}
	me := sdk.Origin{Owner: sdk.LocalOwner, Channel: "chat"} // the person of this machine, by the channel
	runs := map[string][2]sdk.Run{}
	for name, o := range map[string]sdk.Origin{"ada": ada, "bob": bob, "group": group, "local": {}} {
		runs[name] = [2]sdk.Run{made(sdk.Run{Origin: o}), made(sdk.Run{Origin: o})}
		_, err := f.Commit(t.Context(), sdk.Change{Run: runs[name][0].ID, Writes: []sdk.Write{
			{Path: "fact://town/1", Body: new("of " + name), Writer: sdk.WriterPlugin}, {Path: "shared://" + name, Body: new("x"), Writer: sdk.WriterPlugin},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	forked := made(sdk.Run{Parent: runs["ada"][1].ID})
	child := made(sdk.Run{Origin: ada, Delegator: runs["ada"][1].ID, DelegatedBy: "log://turn_1/delegate/x"})
	for name, r := range map[string]sdk.Run{"ada": runs["ada"][1], "bob": runs["bob"][1], "group": runs["group"][1], "local": runs["local"][1], "ada's fork": forked, "ada's child": child, "me by the channel": made(sdk.Run{Origin: me})} {
		owner, _, _ := strings.Cut(strings.Replace(name, "me by the channel", "local", 1), "'")
		want := "of " + owner
		for asked, q := range map[string]sdk.EntryQuery{"path": {Path: "fact://town/1"}, "pattern": {Pattern: "fact://**"}, "regexp": {Pattern: "/town/"}, "all": {}} {
			q.Run, q.Shared = r.ID, true
			list, err := f.Entries(t.Context(), q)
			var facts []string
			for _, e := range list {
				switch e.Scheme() {
				case "fact":
					facts = append(facts, e.Body)
				case "shared":
					if r.Private {
						t.Errorf("%s finds %s by its %s", name, e.Path, asked)
					}
				}
			}
			if err != nil || len(facts) != 1 || facts[0] != want {
				t.Errorf("%s finds %q by its %s, %v", name, facts, asked, err)
			}
		}
		paths, err := f.Paths(t.Context(), r.ID)
		if err != nil || !slices.Contains(paths, "fact://town/1") {
			t.Errorf("%s has the paths %q, %v", name, paths, err)
		}
		_, err = f.Commit(t.Context(), sdk.Change{Run: r.ID, Writes: []sdk.Write{{Path: "fact://town/1", Look: true, Visibility: sdk.Visible}}})
		if e, readErr := f.Entry(t.Context(), r.ID, "fact://town/1"); err != nil || readErr != nil || e.Body != want || e.Scope != ownerScope(r.Owner) {
			t.Errorf("%s looks at %+v, %v, %v", name, e, err, readErr)
		}
		if _, err := f.Commit(t.Context(), sdk.Change{Run: r.ID, Writes: []sdk.Write{{Path: "shared://local", Look: true, Visibility: sdk.Visible}}}); r.Private && sdk.OutcomeOf(err) != sdk.NotFound {
			t.Errorf("%s looks at what others share: %v", name, err)
		}
	}
	for owner, want := range map[string]bool{"chat/ada": true, sdk.LocalOwner: true, "chat/eve": false, "chat/": false} {
		if has, err := f.Owns(t.Context(), owner); err != nil || has != want {
			t.Errorf("%s owns something: %v, %v", owner, has, err)
		}
	}
	if err := f.Verify(t.Context(), 0); err != nil {
		t.Error(err)
	}
}

// TestNothingForgottenStaysInTheJournal: of what an owner's entries said, the rows keep hashes, also of short attributes, and tell
// them as long as they stand. An attribute that was taken out verifies.
func TestNothingForgottenStaysInTheJournal(t *testing.T) {
	f := newFixture(t)
	if err := f.RegisterScheme(t.Context(), sdk.Scheme{Name: "fact", Category: sdk.CategoryData, Scope: "owner", WritableBy: []sdk.Writer{sdk.WriterPlugin}}); err != nil {
		t.Fatal(err)
	}
	write := func(w sdk.Write) {
		t.Helper()
		w.Path, w.Writer = "fact://town/1", sdk.WriterPlugin
		if _, err := f.Commit(t.Context(), sdk.Change{Run: f.run.ID, Writes: []sdk.Write{w}}); err != nil {
			t.Fatal(err)
		}
		if err := f.Verify(t.Context(), 0); err != nil {
			t.Error(err)
		}
	}
	write(sdk.Write{Body: new("lives in Utrecht"), Attributes: []byte(`{"key":"town","quote":"I live in Utrecht","seen":1}`)})
	rows, err := f.Journal(t.Context(), sdk.JournalQuery{Run: f.run.ID})
	if err != nil || !strings.Contains(string(rows[len(rows)-1].Data), "I live in Utrecht") {
		t.Errorf("the row does not tell what the entry holds: %s, %v", rows[len(rows)-1].Data, err)
	}
	write(sdk.Write{Attributes: []byte(`{"quote":null}`)})
	write(sdk.Write{Attributes: []byte(`{"quote":"Utrecht it is"}`)})
	write(sdk.Write{Remove: true})
	if n := f.count(`SELECT count(*) FROM journal WHERE data LIKE '%Utrecht%'`); n != 0 {
		t.Errorf("%d rows keep what was forgotten", n)
	}
	if n := f.count(`SELECT count(*) FROM journal WHERE path = 'fact://town/1'`); n != 4 {
		t.Errorf("%d rows tell of it", n)
	}
}

// TestNothingRememberedStaysInTheJournal: of what a model called a tool with that keeps what is remembered, the rows keep hashes, and of
// another's calls what they are.
func TestNothingRememberedStaysInTheJournal(t *testing.T) {
	f := newFixture(t)
	_, err := f.Commit(t.Context(), sdk.Change{Run: f.run.ID, Writes: []sdk.Write{
		{Path: "assistant://1", Body: new(""), Writer: sdk.WriterSystem, Attributes: []byte(`{"calls":[{"tool":"remember","arguments":"{\"value\":\"Utrecht\"}"}]}`)},
		{Path: "log://turn_1/remember/x", Body: new(""), Writer: sdk.WriterSystem, Attributes: []byte(`{"tool":"remember","keeps":true,"arguments":{"value":"Utrecht"}}`)},
		{Path: "log://turn_1/read/x", Body: new(""), Writer: sdk.WriterSystem, Attributes: []byte(`{"tool":"read","arguments":{"path":"of Delft"}}`)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Verify(t.Context(), 0); err != nil {
		t.Error(err)
	}
	if n := f.count(`SELECT count(*) FROM journal WHERE data LIKE '%Utrecht%'`); n != 0 {
		t.Errorf("%d rows keep what is remembered", n)
	}
	if n := f.count(`SELECT count(*) FROM journal WHERE data LIKE '%of Delft%'`); n != 1 {
		t.Errorf("%d rows keep what was read", n)
	}
}

// TestForgotten: what an owner's run removes is gone for all runs of that owner, its body too, whether the run had it in view or
// not; that of another owner stays.
func TestForgotten(t *testing.T) {
	f := newFixture(t)
	if err := f.RegisterScheme(t.Context(), sdk.Scheme{Name: "fact", Category: sdk.CategoryData, Scope: "owner", WritableBy: []sdk.Writer{sdk.WriterPlugin}}); err != nil {
		t.Fatal(err)
	}
	var runs [3]sdk.Run // two of one owner, one of another
	for i, owner := range []string{"chat/ada", "chat/ada", "chat/bob"} {
		var err error
		runs[i], err = f.CreateRun(t.Context(), sdk.Run{Project: f.run.Project, Agent: "default", Private: true, Origin: sdk.Origin{Owner: owner, Channel: "chat"}})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range runs {
		for _, path := range []string{"fact://town/1", "fact://town/2"} {
			if r.ID == runs[1].ID && path == "fact://town/2" {
				continue // which the second run never had in view
			}
			if _, err := f.Commit(t.Context(), sdk.Change{Run: r.ID, Writes: []sdk.Write{{Path: path, Body: new("Utrecht"), Writer: sdk.WriterPlugin}}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	forget := sdk.Change{Run: runs[1].ID, Writes: []sdk.Write{{Path: "fact://town/1", Remove: true, Writer: sdk.WriterPlugin}, {Path: "fact://town/2", Remove: true, Writer: sdk.WriterPlugin}}}
	receipt, err := f.Commit(t.Context(), forget)
	if err != nil || receipt.Entries[0].Body != "Utrecht" || receipt.Entries[0].Scope != "owner:chat/ada" {
		t.Fatalf("%+v, %v", receipt, err)
	}
	for i, want := range []int{0, 0, 2} {
		found, err := f.Entries(t.Context(), sdk.EntryQuery{Run: runs[i].ID, Pattern: "fact://**", Shared: true})
		if err != nil || len(found) != want {
			t.Errorf("run %d finds %v, %v", i, found, err)
		}
	}
	if n := f.count(`SELECT count(*) FROM entries WHERE scope = 'owner:chat/ada' AND scheme = 'fact'`); n != 0 {
		t.Errorf("%d facts are kept", n)
	}
	rows, err := f.Journal(t.Context(), sdk.JournalQuery{Run: runs[0].ID})
	if err != nil || len(rows) < 2 || rows[len(rows)-1].Kind != sdk.KindEntryRemoved || rows[len(rows)-2].Kind != sdk.KindEntryRemoved {
		t.Errorf("the run that had them in view is not told: %v", err)
	}
	if _, err := f.Commit(t.Context(), forget); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("they are forgotten twice: %v", err)
	}
	if err := f.Verify(t.Context(), 0); err != nil {
		t.Error(err)
	}
}
