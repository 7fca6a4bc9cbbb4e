package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

func trustWrite(name, text string) sdk.Write {
	return sdk.Write{Path: "trust://" + name, Body: &text, Writer: sdk.WriterSystem, Visibility: sdk.Archived}
}

// TestKeep holds that what is kept belongs to the project: no run of people
// sees it, and it stays when the run that recorded it expired.
func TestKeep(t *testing.T) {
	later := time.Duration(0)
	h := prepareHouse(t)
	h.config.Clock = func() time.Time { return time.Now().Add(later) }
	h.start()
	if kept, err := h.store.Entries(t.Context(), sdk.EntryQuery{Project: h.project, Pattern: "trust://**"}); err != nil || len(kept) > 0 {
		t.Fatalf("Kept = %v, %v", kept, err)
	}
	if runs, err := h.store.Projects(t.Context()); err != nil || len(runs) > 0 {
		t.Errorf("the question made the project %v, %v", runs, err)
	}
	if err := h.engine.Keep(t.Context(), h.project, trustWrite("a", "1"), trustWrite("b", "2")); err != nil {
		t.Fatal(err)
	}
	want := func(text string) {
		t.Helper()
		kept, err := h.store.Entries(t.Context(), sdk.EntryQuery{Project: h.project, Pattern: "trust://**"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range kept {
			got = append(got, e.Path+" "+e.Body)
		}
		if strings.Join(got, ", ") != text {
			t.Errorf("kept is %q, want %q", got, text)
		}
	}
	want("trust://a 1, trust://b 2")
	p, err := h.store.OpenProject(t.Context(), h.project)
	if err != nil {
		t.Fatal(err)
	}
	run, err := h.store.RunByAlias(t.Context(), p.ID, toolsAlias)
	if err != nil || !run.Hidden {
		t.Fatalf("the run that recorded it is %+v, %v", run, err)
	}

	later = 1000 * time.Hour
	if err := h.engine.Expire(t.Context(), Keep{Run: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.store.Run(t.Context(), run.ID); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Fatalf("the run did not expire: %v", err)
	}
	want("trust://a 1, trust://b 2")
	if err := h.engine.Keep(t.Context(), h.project, trustWrite("a", "3")); err != nil {
		t.Fatal(err)
	}
	want("trust://a 3, trust://b 2")
}

func TestKeepIsAllOrNothing(t *testing.T) {
	h := newHouse(t)
	bad := trustWrite("b", "2")
	bad.Writer = sdk.WriterModel
	if err := h.engine.Keep(t.Context(), h.project, trustWrite("a", "1"), bad); sdk.OutcomeOf(err) != sdk.Permission {
		t.Errorf("Keep = %v", err)
	}
	if kept, err := h.store.Entries(t.Context(), sdk.EntryQuery{Project: h.project, Pattern: "trust://**"}); err != nil || len(kept) > 0 {
		t.Errorf("Kept = %v, %v", kept, err)
	}
	if err := h.engine.Keep(t.Context(), h.project+"/not there", trustWrite("a", "1")); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("Keep = %v", err)
	}
}
