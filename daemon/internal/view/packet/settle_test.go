package packet

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// TestATurnDemotesWhatTheNextHasNoRoomFor, and what fits costs no write. The entry that tells of it is of the turn that is over, so
// that the next one shows it.
// spec: budget_enforcement
func TestATurnDemotesWhatTheNextHasNoRoomFor(t *testing.T) {
	d := newDesk()
	in := assembly(1, prompt(1, "task"), entry("known://old", strings.Repeat("o", 900), at(1, 3)))
	in.Context = 3400
	sent, _, err := d.fit(t, in)
	if err != nil {
		t.Fatal(err)
	}
	next := in
	next.Turn = 6
	next.Entries = append(next.Entries, entry("known://small", "s", at(1, 5)))
	if w, err := d.Settle(t.Context(), next, sent); err != nil || w != nil {
		t.Fatalf("it fits: %v, %+v", err, w)
	}
	next.Entries = append(next.Entries, entry("known://page", strings.Repeat("p", 3000), at(1, 5)),
		call(5, "bash", strings.Repeat("f", 600), at(1, 5), func(e *sdk.Entry) { e.State, e.Outcome = sdk.StateFailed, "exit:1" }))
	w, err := d.Settle(t.Context(), next, sent)
	if err != nil || len(w) != 3 || w[0].Path != "known://small" || w[1].Path != "known://page" || w[2].Path != "log://turn_5/error/demoted_after" || w[2].Turn != 5 {
		t.Fatalf("%v: %+v", err, w)
	}
	next.Entries = written(next.Entries, w)
	p, report, err := d.fit(t, next)
	if err != nil || len(report.Writes) > 0 {
		t.Fatalf("%v: %+v", err, report)
	}
	inOrder(t, p.Messages[0].Text, "<log>", "what this turn brought into sight was demoted", "known://page (", "</log>")
	if w, err := d.Settle(t.Context(), next, sent); err != nil || w != nil {
		t.Errorf("once more: %v, %+v", err, w)
	}
	sent.Ceiling = 0
	if w, err := d.Settle(t.Context(), next, sent); err != nil || w != nil {
		t.Errorf("without a ceiling: %v, %+v", err, w)
	}
}

// TestSettlingForeseesTheFit: where nothing but the parts writes, the estimate is that of the packet which is sent, so that the ladder has
// to demote of the turn nothing that its end did not.
func TestSettlingForeseesTheFit(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		in := crowd(r)
		d := newDesk()
		before, err := d.Assemble(t.Context(), in)
		if err != nil {
			r.Fatal(err)
		}
		w, err := d.Settle(t.Context(), in, before)
		if err != nil {
			r.Fatal(err)
		}
		first, report, _ := newDesk().fit(t, in)
		if report.Before <= first.Ceiling && w != nil {
			r.Fatalf("%d of %d tokens, and it demotes %+v", report.Before, first.Ceiling, w)
		}
		in.Entries = written(in.Entries, w)
		_, again, _ := newDesk().fit(t, in)
		looks := map[string]bool{}
		for _, x := range w {
			looks[x.Path] = x.Look
		}
		for _, x := range again.Writes {
			if looks[x.Path] {
				r.Fatalf("%s is demoted once more", x.Path)
			}
		}
	})
}
