package store

import (
	"reflect"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// spec: scheme_registry
func TestSchemesAreKept(t *testing.T) {
	f := newFixture(t)
	fact := sdk.Scheme{Name: "fact", Scope: "global", Category: sdk.CategoryData, ModelVisible: true, WritableBy: []sdk.Writer{sdk.WriterPlugin}}
	if err := f.RegisterScheme(t.Context(), fact); err != nil {
		t.Fatal(err)
	}
	if err := f.RegisterScheme(t.Context(), fact); err != nil {
		t.Fatalf("a second time: %v", err)
	}
	for _, c := range []struct {
		s    sdk.Scheme
		want sdk.Outcome
	}{
		{sdk.Scheme{Name: "prompt", WritableBy: []sdk.Writer{sdk.WriterModel}}, sdk.Conflict},
		{sdk.Scheme{Name: "fact", Scope: "run"}, sdk.Conflict},
		{sdk.Scheme{Name: "Fact"}, sdk.Validation},
		{sdk.Scheme{Name: ""}, sdk.Validation},
		{sdk.Scheme{Name: "x", Scope: "galaxy"}, sdk.Validation},
		{sdk.Scheme{Name: "x", Category: "stuff"}, sdk.Validation},
		{sdk.Scheme{Name: "x", WritableBy: []sdk.Writer{"root"}}, sdk.Validation},
	} {
		if err := f.RegisterScheme(t.Context(), c.s); sdk.OutcomeOf(err) != c.want || err == nil {
			t.Errorf("%+v: %v", c.s, err)
		}
	}
	if err := f.RegisterScheme(t.Context(), sdk.Scheme{Name: "plain"}); err != nil {
		t.Fatal(err)
	}
	plain, _ := f.Scheme("plain")
	if plain.Scope != "run" || plain.Category != sdk.CategoryLogging || !plain.Admits(sdk.WriterModel) || !plain.Admits(sdk.WriterPlugin) || plain.Admits(sdk.WriterClient) {
		t.Errorf("defaults: %+v", plain)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, f.path)
	if got, ok := s.Scheme("fact"); !ok || !reflect.DeepEqual(got, fact) {
		t.Errorf("after opening again: %+v", got)
	}
	if got, _ := s.Scheme("skill"); !got.Admits(sdk.WriterSystem) || got.Admits(sdk.WriterPlugin) || got.Admits(sdk.WriterModel) {
		t.Errorf("what a run has loaded can be written by %v", got.WritableBy)
	}
	if got, _ := s.Scheme("prompt"); got.Admits(sdk.WriterModel) || got.Category != sdk.CategoryPrompt {
		t.Errorf("%+v", got)
	}
}
