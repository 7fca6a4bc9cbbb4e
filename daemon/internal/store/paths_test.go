package store

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestEntriesByPaths: of many paths those are read that the run sees or shares, in their order, whatever the paths hold.
func TestEntriesByPaths(t *testing.T) {
	f := newFixture(t)
	if err := f.RegisterScheme(t.Context(), sdk.Scheme{Name: "house", Scope: "project", WritableBy: []sdk.Writer{sdk.WriterPlugin}}); err != nil {
		t.Fatal(err)
	}
	paths := []string{"known://b", "known://a*", "known://a", "known://\"[1]\"", "known://c"}
	for _, path := range paths {
		f.commit(sdk.Write{Path: path, Body: body("of " + path), Writer: sdk.WriterModel})
	}
	f.commit(sdk.Write{Path: "house://x", Body: body("rules"), Writer: sdk.WriterPlugin})
	other := f.newRun(sdk.Run{})
	read := func(run int64, paths ...string) (got []string) {
		all, err := f.Entries(t.Context(), sdk.EntryQuery{Run: run, Shared: true, Paths: paths})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			got = append(got, fmt.Sprint(e.Path, " ", e.Body))
		}
		return got
	}
	want := []string{`known://a* of known://a*`, `known://"[1]" of known://"[1]"`, `house://x rules`}
	if got := read(f.run.ID, "house://x", "known://none", paths[3], paths[1]); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := read(other.ID, "house://x", "known://a"); !slices.Equal(got, want[2:]) {
		t.Errorf("another run reads %q", got)
	}
	if got := read(f.run.ID); len(got) != 6 {
		t.Errorf("nil is all: %q", got)
	}
	if all, err := f.Entries(t.Context(), sdk.EntryQuery{Run: f.run.ID, Paths: []string{}}); err != nil || len(all) != 0 {
		t.Errorf("none is none: %v, %v", all, err)
	}
}
