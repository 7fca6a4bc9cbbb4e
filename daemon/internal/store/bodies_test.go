package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestBodies: they come one after the other in the order of their paths, as the run sees them, while the connection
// is free; what is not there is left out.
func TestBodies(t *testing.T) {
	f := newFixture(t)
	for _, x := range []sdk.Scheme{{Name: "wiki", Scope: "project"}, {Name: "lore", Scope: "global"}} {
		if err := f.RegisterScheme(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	other := f.newRun(sdk.Run{})
	shared := []sdk.Write{{Path: "wiki://x", Body: body("shared"), Writer: sdk.WriterModel}, {Path: "lore://x", Body: body("all"), Writer: sdk.WriterModel}}
	if _, err := f.Commit(t.Context(), sdk.Change{Run: other.ID, Writes: append(shared, sdk.Write{Path: "known://theirs", Body: body("no"), Writer: sdk.WriterModel})}); err != nil {
		t.Fatal(err)
	}
	var writes []sdk.Write
	want := []string{"known://\u00e9<\U0001F600> é", "known://s ab", "lore://x all", "wiki://x shared"}
	for i := range 2*bodiesAtOnce + 1 {
		writes = append(writes, sdk.Write{Path: fmt.Sprintf("known://n%03d", i), Body: body(fmt.Sprint(i)), Writer: sdk.WriterModel})
		want = append(want, fmt.Sprintf("known://n%03d %d", i, i))
	}
	for i := range 3 {
		writes = append(writes, sdk.Write{Path: fmt.Sprintf("known://large%d", i), Body: body(strings.Repeat("x", bytesAtOnce-1)), Writer: sdk.WriterModel})
		want = append(want, fmt.Sprintf("known://large%d %s", i, strings.Repeat("x", bytesAtOnce-1)))
	}
	f.commit(append(writes, sdk.Write{Path: "known://\u00e9<\U0001F600>", Body: body("é"), Writer: sdk.WriterModel},
		sdk.Write{Path: "known://s", Body: body("a"), State: sdk.StateStreaming, Writer: sdk.WriterModel},
		sdk.Write{Path: "known://s", Chunk: &sdk.Chunk{Channel: 1, Text: "b"}, Writer: sdk.WriterModel})...)
	slices.Sort(want)
	paths := []string{"known://none", "known://theirs"}
	for _, x := range want {
		path, _, _ := strings.Cut(x, " ")
		paths = append(paths, path)
	}
	slices.Sort(paths)
	var got []string
	err := f.Bodies(t.Context(), f.run.ID, paths, func(path, text string) error {
		got = append(got, path+" "+text)
		_, err := f.Entry(t.Context(), f.run.ID, "known://s")
		return err
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%d of %d bodies came, %v", len(got), len(want), err)
	}
	n, enough := 0, errors.New("enough")
	if err := f.Bodies(t.Context(), f.run.ID, paths, func(string, string) error { n++; return enough }); !errors.Is(err, enough) || n != 1 {
		t.Errorf("after an error %d were read: %v", n, err)
	}
}

// TestBodiesOfSchemes: a list has the bodies of the schemes that are named, and of no others.
func TestBodiesOfSchemes(t *testing.T) {
	f := newFixture(t)
	f.commit(
		sdk.Write{Path: "known://a", Body: body("a"), Writer: sdk.WriterModel},
		sdk.Write{Path: "image://a", Body: body("data"), Writer: sdk.WriterSystem},
		sdk.Write{Path: "log://turn_1/x/y", Body: body("o"), State: sdk.StateStreaming, Writer: sdk.WriterModel},
		sdk.Write{Path: "log://turn_1/x/y", Chunk: &sdk.Chunk{Channel: 1, Text: "ut"}, Writer: sdk.WriterModel},
		sdk.Write{Path: "notes.md", Body: body("file"), Writer: sdk.WriterSystem},
	)
	for _, c := range []struct {
		of   []string
		want string
	}{
		{nil, "a data out file"}, {[]string{}, "   "}, {[]string{"log", "known"}, "a  out "}, {[]string{"file"}, "   file"}, {[]string{"imag"}, "   "},
	} {
		all, err := f.Entries(t.Context(), sdk.EntryQuery{Run: f.run.ID, Bodies: c.of})
		var got []string
		for _, e := range all {
			got = append(got, e.Body)
			if e.State == sdk.StateStreaming && (e.Hash == "") != (c.of != nil && !slices.Contains(c.of, "log")) {
				t.Errorf("%v: the hash of a stream is %q", c.of, e.Hash)
			}
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%v: %q, want %q (%v)", c.of, got, c.want, err)
		}
	}
}

// TestLongestBody: of a long body a list has the beginning, in whole characters, and how much is left.
func TestLongestBody(t *testing.T) {
	f := newFixture(t)
	f.commit(
		sdk.Write{Path: "known://long", Body: body("aé" + strings.Repeat("b", 100)), Writer: sdk.WriterModel},
		sdk.Write{Path: "known://short", Body: body("ab"), Writer: sdk.WriterModel},
		sdk.Write{Path: "log://turn_1/x/y", Body: body("o"), State: sdk.StateStreaming, Writer: sdk.WriterModel},
		sdk.Write{Path: "log://turn_1/x/y", Chunk: &sdk.Chunk{Channel: 1, Text: "ut"}, Writer: sdk.WriterModel},
	)
	whole, err := f.Entries(t.Context(), sdk.EntryQuery{Run: f.run.ID})
	if err != nil {
		t.Fatal(err)
	}
	all, err := f.Entries(t.Context(), sdk.EntryQuery{Run: f.run.ID, Longest: 2})
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	for i, want := range []struct {
		body string
		left int
	}{{"a", 102}, {"ab", 0}, {"ou", 1}} {
		if e := all[i]; e.Body != want.body || e.Left != want.left || e.Hash != whole[i].Hash || whole[i].Left != 0 {
			t.Errorf("%s: %q with %d left, want %q with %d", e.Path, e.Body, e.Left, want.body, want.left)
		}
	}
}

// TestCheck: a write that only checks writes nothing, and refuses what was changed meanwhile.
func TestCheck(t *testing.T) {
	f := newFixture(t)
	f.commit(sdk.Write{Path: "known://a", Body: body("a"), Writer: sdk.WriterModel})
	e, seq := f.entry("known://a"), f.Seq()
	r := f.commit(sdk.Write{Path: "known://a", Check: true, ExpectHash: e.Hash, ExpectVersion: 1})
	if f.Seq() != seq || r.Entries[0].Path != "known://a" || f.entry("known://a").Version != 1 {
		t.Errorf("a check wrote: %+v", r)
	}
	for _, w := range []sdk.Write{
		{Path: "known://a", Check: true, ExpectHash: strings.Repeat("0", 64)},
		{Path: "known://a", Check: true, ExpectVersion: 2},
		{Path: "known://b", Check: true, ExpectHash: e.Hash},
	} {
		_ = f.refuse(sdk.Conflict, sdk.Change{Writes: []sdk.Write{w}})
	}
	for _, w := range []sdk.Write{{Path: "known://a", Check: true}, {Path: "known://a", Check: true, ExpectHash: e.Hash, Body: body("b")}} {
		_ = f.refuse(sdk.Validation, sdk.Change{Writes: []sdk.Write{w}})
	}
}

// TestBodiesEndWithALargeOne: the last body may be the one that is enough.
func TestBodiesEndWithALargeOne(t *testing.T) {
	f := newFixture(t)
	large := strings.Repeat("x", bytesAtOnce+1)
	f.commit(sdk.Write{Path: "known://a", Body: body("a"), Writer: sdk.WriterModel}, sdk.Write{Path: "known://z", Body: &large, Writer: sdk.WriterModel})
	for _, paths := range [][]string{{"known://z"}, {"known://a", "known://z"}, {"known://a", "known://z", "known://zz"}} {
		n := 0
		if err := f.Bodies(t.Context(), f.run.ID, paths, func(string, string) error { n++; return nil }); err != nil || n != min(len(paths), 2) {
			t.Errorf("%v: %d came, %v", paths, n, err)
		}
	}
}
