package builtin

import (
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestUnseen: a scheme that says neither that models see it nor that they write it is out of reach of each verb of theirs, by
// path and by every pattern, and within reach of people and plugins. What is an owner's goes where it is removed.
func TestUnseen(t *testing.T) {
	b := newBench(t)
	scheme := sdk.Scheme{Name: "fact", Scope: "owner", Category: sdk.CategoryData, WritableBy: []sdk.Writer{sdk.WriterPlugin, sdk.WriterClient}}
	if err := b.s.RegisterScheme(t.Context(), scheme); err != nil {
		t.Fatal(err)
	}
	b.commit(sdk.Write{Path: "fact://town/1", Body: new("Utrecht"), Writer: sdk.WriterPlugin})
	const at = "fact://town/1"
	body := new("Delft")
	for _, c := range []sdk.EntryCall{
		{Verb: sdk.VerbGet, Path: at}, {Verb: sdk.VerbGet, Path: "FACT://town/1"}, {Verb: sdk.VerbSet, Path: at, Body: body}, {Verb: sdk.VerbSet, Path: at, Visibility: sdk.Visible},
		{Verb: sdk.VerbSet, Path: "fact://new/1", Body: body}, {Verb: sdk.VerbRemove, Path: at}, {Verb: sdk.VerbCopy, Path: at, To: "known://town"},
		{Verb: sdk.VerbMove, Path: at, To: "known://town"}, {Verb: sdk.VerbCopy, Path: "known://x", To: at},
		{Verb: sdk.VerbGet, Path: "fact://**"}, {Verb: sdk.VerbGet, Path: "**", Filter: "Utrecht"}, {Verb: sdk.VerbGet, Path: "/town/"}, {Verb: sdk.VerbGet, Path: "/Utrecht/", Preview: true},
		{Verb: sdk.VerbRemove, Path: "*act://**"}, {Verb: sdk.VerbSet, Path: "/./", Visibility: sdk.Visible},
	} {
		if done, err := b.as(sdk.WriterModel).do(c); err == nil && len(done.Entries) > 0 {
			t.Errorf("a model's %s of %s comes to %+v", c.Verb, c.Path, done)
		}
	}
	client := b.as(sdk.WriterClient)
	if done := client.must(sdk.EntryCall{Verb: sdk.VerbGet, Path: "fact://**"}); len(done.Entries) != 1 || done.Entries[0].Body != "Utrecht" {
		t.Errorf("a client finds %+v", done)
	}
	if done := client.must(sdk.EntryCall{Verb: sdk.VerbRemove, Path: at}); len(done.Entries) != 1 || done.Text != at+" is removed" {
		t.Errorf("a client removes %+v", done)
	}
	if _, err := client.do(sdk.EntryCall{Verb: sdk.VerbGet, Path: at}); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("what was removed is found: %v", err)
	}
}
