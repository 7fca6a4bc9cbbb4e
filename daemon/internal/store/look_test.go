package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
)

// TestLook holds that a look changes what a run has in sight, and neither the entry nor who
// wrote it.
// spec: schemes_status_visibility
func TestLook(t *testing.T) {
	f := newFixture(t)
	for _, x := range []sdk.Scheme{
		{Name: "house", Scope: "project", WritableBy: []sdk.Writer{sdk.WriterPlugin}},
		{Name: "closed", Scope: "global", WritableBy: []sdk.Writer{}},
	} {
		if err := f.RegisterScheme(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	f.commit(
		sdk.Write{Path: "skill://x", Body: body("text"), Writer: sdk.WriterSystem, Turn: 2},
		sdk.Write{Path: "house://x", Body: body("rules"), Writer: sdk.WriterPlugin},
		sdk.Write{Path: "trust://x", Body: body("yes"), Writer: sdk.WriterSystem},
		sdk.Write{Path: "known://s", Body: body("a"), State: sdk.StateStreaming, Writer: sdk.WriterModel},
		sdk.Write{Path: "known://s", Chunk: &sdk.Chunk{Channel: 1, Text: "b"}, Writer: sdk.WriterModel},
	)
	look := func(path string) sdk.Write {
		return sdk.Write{Path: path, Look: true, Visibility: sdk.Summarized, Writer: sdk.WriterModel, Turn: 9}
	}
	f.commit(look("skill://x"), look("known://s"))
	e, err := f.Entry(t.Context(), f.run.ID, "skill://x")
	if err != nil || e.Visibility != sdk.Summarized || e.Writer != sdk.WriterSystem || e.Turn != 2 || e.Version != 1 {
		t.Errorf("got %+v, %v", e, err)
	}
	if e, err := f.Entry(t.Context(), f.run.ID, "known://s"); err != nil || e.Body != "ab" || e.State != sdk.StateStreaming {
		t.Errorf("a stream is %+v, %v", e, err)
	}
	rows, err := f.Journal(t.Context(), sdk.JournalQuery{Run: f.run.ID})
	if err != nil || !strings.Contains(string(rows[len(rows)-1].Data), `"look":true`) {
		t.Errorf("the row says %s, %v", rows[len(rows)-1].Data, err)
	}
	other := f.newRun(sdk.Run{})
	commit := func(ws ...sdk.Write) (sdk.Receipt, error) {
		return f.Commit(t.Context(), sdk.Change{Run: other.ID, Writes: ws})
	}
	r, err := commit(look("house://x"))
	if err != nil || r.Entries[0].Writer != sdk.WriterPlugin || r.Entries[0].Turn != 9 || r.Entries[0].Version != 1 || r.Entries[0].Body != "rules" {
		t.Errorf("a view was made: %+v, %v", r, err)
	}
	with := func(w sdk.Write, change func(*sdk.Write)) sdk.Write { change(&w); return w }
	for name, c := range map[string]struct {
		w    sdk.Write
		want sdk.Outcome
	}{
		"at another run's":   {look("skill://x"), sdk.NotFound},
		"at nothing":         {look("known://none"), sdk.NotFound},
		"at the audit":       {look("trust://x"), sdk.Permission},
		"at its own audit":   {look("run://hold"), sdk.Permission},
		"without a level":    {with(look("house://x"), func(w *sdk.Write) { w.Visibility = "" }), sdk.Validation},
		"that writes":        {with(look("house://x"), func(w *sdk.Write) { w.Body = body("mine") }), sdk.Validation},
		"that ends":          {with(look("house://x"), func(w *sdk.Write) { w.State = sdk.StateFailed }), sdk.Validation},
		"that removes":       {with(look("house://x"), func(w *sdk.Write) { w.Remove = true }), sdk.Validation},
		"at another body":    {with(look("house://x"), func(w *sdk.Write) { w.ExpectHash = "00" }), sdk.Conflict},
		"an append of none":  {sdk.Write{Path: "known://a", Append: true, Writer: sdk.WriterModel}, sdk.Validation},
		"a body of no entry": {sdk.Write{Path: "known://a", Body: body("x"), ExpectHash: e.Hash, Writer: sdk.WriterModel}, sdk.Conflict},
	} {
		if _, err := commit(c.w); sdk.OutcomeOf(err) != c.want || err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := commit(with(look("house://x"), func(w *sdk.Write) { w.ExpectHash = r.Entries[0].Hash })); err != nil {
		t.Errorf("at the body that is expected: %v", err)
	}
	if r, err := commit(with(look("trust://x"), func(w *sdk.Write) { w.Writer = sdk.WriterSystem })); err != nil || r.Entries[0].Visibility != sdk.Summarized {
		t.Errorf("the daemon's own at the audit: %+v, %v", r, err)
	}
	if err := f.Verify(t.Context(), 0); err != nil {
		t.Error(err)
	}
}

// TestAppend puts text behind what is there, whoever wrote that.
func TestAppend(t *testing.T) {
	f := newFixture(t)
	more := sdk.Write{Path: "known://a", Body: body("b"), Append: true, Writer: sdk.WriterModel}
	f.commit(more, known("known://a", "a"), more, more)
	child := f.newRun(sdk.Run{Parent: f.run.ID})
	if _, err := f.Commit(t.Context(), sdk.Change{Run: child.ID, Writes: []sdk.Write{more}}); err != nil {
		t.Fatal(err)
	}
	for run, want := range map[int64]string{f.run.ID: "abb", child.ID: "abbb"} {
		if e, err := f.Entry(t.Context(), run, "known://a"); err != nil || e.Body != want {
			t.Errorf("run %d has %q, %v", run, e.Body, err)
		}
	}
}

// TestShared lists what a run shares with others and has no view of.
func TestShared(t *testing.T) {
	f := newFixture(t)
	for name, scope := range map[string]string{"wiki": "project", "lore": "global", "gone": "project"} {
		if err := f.RegisterScheme(t.Context(), sdk.Scheme{Name: name, Scope: scope}); err != nil {
			t.Fatal(err)
		}
	}
	f.commit(known("known://a", "own"), known("wiki://b", "ours"), known("lore://c", "everybody's"),
		sdk.Write{Path: "trust://x", Body: body("yes"), Writer: sdk.WriterSystem})
	far, err := f.OpenProject(t.Context(), "/home/me/far")
	if err != nil {
		t.Fatal(err)
	}
	abroad, err := f.CreateRun(t.Context(), sdk.Run{Project: far.ID})
	if err != nil {
		t.Fatal(err)
	}
	near := f.newRun(sdk.Run{})
	if _, err := f.Commit(t.Context(), sdk.Change{Run: near.ID, Writes: []sdk.Write{known("known://n", "near")}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		q    sdk.EntryQuery
		want []string
	}{
		{sdk.EntryQuery{Run: f.run.ID, Shared: true}, []string{"known://a visible own", "wiki://b visible ours", "lore://c visible everybody's", "trust://x visible yes"}},
		{sdk.EntryQuery{Run: near.ID, Shared: true}, []string{"known://n visible near", "lore://c archived everybody's", "wiki://b archived ours"}},
		{sdk.EntryQuery{Run: near.ID}, []string{"known://n visible near"}},
		{sdk.EntryQuery{Run: abroad.ID, Shared: true}, []string{"lore://c archived everybody's"}},
		{sdk.EntryQuery{Run: near.ID, Shared: true, Brief: true, Pattern: "wiki://**"}, []string{"wiki://b archived "}},
		{sdk.EntryQuery{Run: near.ID, Shared: true, Path: "WIKI://b"}, []string{"wiki://b archived ours"}},
		{sdk.EntryQuery{Run: near.ID, Path: "wiki://b"}, nil},
		{sdk.EntryQuery{Run: near.ID, Shared: true, Path: "trust://x"}, nil},
		{sdk.EntryQuery{Run: f.run.ID, Path: "known://a"}, []string{"known://a visible own"}},
	} {
		all, err := f.Entries(t.Context(), c.q)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range all {
			got = append(got, e.Path+" "+string(e.Visibility)+" "+e.Body)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.q, got, c.want)
		}
	}
	for run, want := range map[int64][]string{f.run.ID: {"known://a", "lore://c", "trust://x", "wiki://b"}, near.ID: {"known://n", "lore://c", "wiki://b"}, abroad.ID: {"lore://c"}} {
		got, err := f.Paths(t.Context(), run)
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("run %d: %q, %v", run, got, err)
		}
	}
	if _, err := f.Entries(t.Context(), sdk.EntryQuery{Run: near.ID, Path: "*://x"}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("a path that is none: %v", err)
	}
}

// TestPatternsHoldNoConnection holds that others read while a pattern is compared: who may only look could
// else hold up the whole daemon.
func TestPatternsHoldNoConnection(t *testing.T) {
	f := newFixture(t)
	f.readers.SetMaxOpenConns(1)
	for i := range 100 {
		f.commit(known(fmt.Sprintf("known://%s/%d", strings.Repeat("a", 300), i), "x"))
	}
	found := make(chan error, 1)
	go func() {
		all, err := f.Entries(t.Context(), sdk.EntryQuery{Run: f.run.ID, Pattern: "/(a?){900}(b?){900}Z/"})
		if len(all) > 0 {
			err = fmt.Errorf("%d entries fit", len(all))
		}
		found <- err
	}()
	for reads := 0; ; reads++ {
		select {
		case err := <-found:
			if err != nil || reads < 300 {
				t.Errorf("%d reads meanwhile, %v", reads, err)
			}
			return
		default:
			if _, err := f.Run(t.Context(), f.run.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestFewOfMany holds that a pattern which fits a few of many finds the same as one that is held against each.
func TestFewOfMany(t *testing.T) {
	f := newFixture(t)
	if err := f.RegisterScheme(t.Context(), sdk.Scheme{Name: "wiki", Scope: "project", ModelVisible: true}); err != nil {
		t.Fatal(err)
	}
	var ws []sdk.Write
	for i := range 80 {
		ws = append(ws, known(fmt.Sprintf("known://%d/%d", i%10, i), fmt.Sprint("body ", i)), known(fmt.Sprintf("wiki://%d/%d", i%10, i), "shared"))
	}
	f.commit(ws...)
	f.commit(known(`known://3/"<&>'é\`, "odd"), sdk.Write{Path: "known://3/s", Body: body("a"), State: sdk.StateStreaming, Writer: sdk.WriterModel},
		sdk.Write{Path: "known://3/s", Chunk: &sdk.Chunk{Channel: 1, Text: "b"}, Writer: sdk.WriterModel}, known("src/3/x", "a file"))
	child, beside := f.newRun(sdk.Run{Parent: f.run.ID}), f.newRun(sdk.Run{})
	if _, err := f.Commit(t.Context(), sdk.Change{Run: child.ID, Writes: []sdk.Write{known("known://3/3", "the child's"), {Path: "known://3/13", Remove: true, Writer: sdk.WriterModel}}}); err != nil {
		t.Fatal(err)
	}
	for _, run := range []sdk.Run{f.run, child, beside} {
		for _, shared := range []bool{false, true} {
			for _, brief := range []bool{false, true} {
				q := sdk.EntryQuery{Run: run.ID, Shared: shared, Brief: brief}
				all, err := f.Entries(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				for _, pattern := range []string{"known://3/*", "*://3/?3", "known://*/s", `/3\/[^0-9]/`, "**/3/*", "src/**", "nothing/*", "known://**"} {
					wanted, err := match.Parse(pattern)
					if err != nil {
						t.Fatal(err)
					}
					var want []string
					for _, e := range all {
						if fits, err := wanted.Match(e.Path); err != nil || fits {
							want = append(want, fmt.Sprintf("%+v", e))
						}
					}
					q.Pattern = pattern
					found, err := f.Entries(t.Context(), q)
					if err != nil {
						t.Fatal(err)
					}
					var got []string
					for _, e := range found {
						got = append(got, fmt.Sprintf("%+v", e))
					}
					if !slices.Equal(got, want) {
						t.Errorf("%s in run %d, shared %v, brief %v:\n%s\nand not\n%s", pattern, run.ID, shared, brief, strings.Join(got, "\n"), strings.Join(want, "\n"))
					}
				}
			}
		}
	}
}

// TestPromotionIsOfItsTurn: what becomes visible is of the turn in which it does, so that it can be told from what was there.
// What happened, and prompts, stay where they were, and so does what is looked at again or demoted.
func TestPromotionIsOfItsTurn(t *testing.T) {
	f := newFixture(t)
	for _, path := range []string{"known://a", "unknown://a", "https://example.org/a", "prompt://7", "log://turn_2/bash/a"} {
		f.commit(sdk.Write{Path: path, Body: body("text"), Writer: sdk.WriterPlugin, Turn: 2})
		moves := !strings.HasPrefix(path, "prompt") && !strings.HasPrefix(path, "log")
		for i, x := range []struct {
			to   sdk.Visibility
			turn int
			want int
		}{
			{sdk.Visible, 5, 2}, {sdk.Summarized, 6, 2}, {sdk.Visible, 7, 7}, {sdk.Visible, 8, 7}, {sdk.Archived, 9, 7}, {sdk.Visible, 0, 7},
		} {
			f.commit(sdk.Write{Path: path, Look: true, Visibility: x.to, Writer: sdk.WriterModel, Turn: x.turn})
			if !moves {
				x.want = 2
			}
			if e, err := f.Entry(t.Context(), f.run.ID, path); err != nil || e.Turn != x.want || e.Visibility != x.to || e.Version != 1 {
				t.Errorf("%s, step %d: turn %d at level %s in version %d, and not turn %d (%v)", path, i, e.Turn, e.Visibility, e.Version, x.want, err)
			}
		}
	}
	if err := f.Verify(t.Context(), 0); err != nil {
		t.Error(err)
	}
}
