package engine

import (
	"context"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// arriving is a house's models, of which there are none at first: the recording is taken.
type arriving struct {
	*fakeModels
	usual string // what is taken when none is named
}

func (m *arriving) Resolve(ctx context.Context, name string) (sdk.ModelChoice, error) {
	if name == "" {
		name = m.usual
	}
	return m.fakeModels.Resolve(ctx, name)
}

func (m *arriving) ResolveConfigured(ctx context.Context, name string) (sdk.ModelChoice, error) {
	return m.Resolve(ctx, name)
}

// TestARunThatBeganWithoutAModel gets the first one that there is, and keeps that.
func TestARunThatBeganWithoutAModel(t *testing.T) {
	h := prepareHouse(t)
	m := &arriving{fakeModels: h.models, usual: "replay/last"}
	h.config.Models = m
	h.start()
	asked := func(s Submission) string {
		t.Helper()
		a := h.submit(s)
		h.await(a)
		return a.Model
	}
	first := h.submit(Submission{})
	h.await(first)
	if first.Model != "replay/last" {
		t.Fatalf("the first prompt went to %q", first.Model)
	}
	run := first.Run.Alias
	if got := asked(Submission{Run: run}); got != "replay/last" {
		t.Errorf("while there is none: %q", got)
	}
	m.usual = "near/m"
	if got := asked(Submission{Run: run}); got != "near/m" {
		t.Errorf("when there is one: %q", got)
	}
	m.usual = "far/m"
	if got := asked(Submission{Run: run}); got != "near/m" {
		t.Errorf("it does not keep its model: %q", got)
	}
	if got := asked(Submission{Run: run, Model: "replay/last"}); got != "replay/last" {
		t.Errorf("one that is named is replaced: %q", got)
	}
}
