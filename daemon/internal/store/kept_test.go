package store

import (
	"fmt"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestKeptOutlivesRuns holds that what is kept for a project is there whatever
// becomes of the run that recorded it: it was deleted, swept, and another took
// its place.
func TestKeptOutlivesRuns(t *testing.T) {
	f := newFixture(t)
	trust := func(name, text string) sdk.Write {
		return sdk.Write{Path: "trust://" + name, Body: body(text), Attributes: object(`{"hash":"` + text + `"}`), Writer: sdk.WriterSystem}
	}
	kept := func(root, prefix string) string {
		t.Helper()
		all, err := f.Entries(t.Context(), sdk.EntryQuery{Project: root, Pattern: prefix + "**"})
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, e := range all {
			text += fmt.Sprintf("%s %s %s %s\n", e.Path, e.Body, e.Attributes, e.Scope)
		}
		return text
	}
	hidden := f.newRun(sdk.Run{Alias: "tools", Hidden: true})
	for _, w := range []sdk.Write{trust("b", "1"), trust("a%2Fx", "2"), known("known://trust", "no")} {
		if _, err := f.Commit(t.Context(), sdk.Change{Run: hidden.ID, Writes: []sdk.Write{w}}); err != nil {
			t.Fatal(err)
		}
	}
	want := "trust://a%2Fx 2 {\"hash\":\"2\"} project:1\ntrust://b 1 {\"hash\":\"1\"} project:1\n"
	if got := kept(f.project.Root, "trust://"); got != want {
		t.Errorf("kept is\n%swant\n%s", got, want)
	}
	if got := kept(f.project.Root, "trust://b") + kept(f.project.Root, "trust://B") + kept("/home/me", "trust://"); got != "trust://b 1 {\"hash\":\"1\"} project:1\n" {
		t.Errorf("of other prefixes and folders: %s", got)
	}
	brief, err := f.Entries(t.Context(), sdk.EntryQuery{Project: f.project.Root, Pattern: "trust://b", Brief: true})
	if err != nil || len(brief) != 1 || brief[0].Body != "" || string(brief[0].Attributes) != `{"hash":"1"}` {
		t.Errorf("in brief: %+v, %v", brief, err)
	}
	if seen := f.sees(f.run.ID); len(seen) > 0 {
		t.Errorf("another run sees %v", seen)
	}

	f.delete(hidden.ID)
	if got := kept(f.project.Root, "trust://"); got != want {
		t.Errorf("after its run was deleted, kept is\n%s", got)
	}
	next := f.newRun(sdk.Run{Alias: "tools", Hidden: true})
	if _, err := f.Commit(t.Context(), sdk.Change{Run: next.ID, Writes: []sdk.Write{trust("b", "3")}}); err != nil {
		t.Fatal(err)
	}
	if got := kept(f.project.Root, "trust://b"); got != "trust://b 3 {\"hash\":\"3\"} project:1\n" {
		t.Errorf("written again, kept is\n%s", got)
	}
	f.verify()
}

// TestTrustIsWrittenByTheSystemAlone holds that no model, plugin or client can
// say yes for a person.
func TestTrustIsWrittenByTheSystemAlone(t *testing.T) {
	f := newFixture(t)
	for _, w := range []sdk.Writer{sdk.WriterModel, sdk.WriterPlugin, sdk.WriterClient, ""} {
		f.refuse(sdk.Permission, sdk.Change{Writes: []sdk.Write{{Path: "TRUST://a", Body: body("x"), Writer: w}}})
	}
}
