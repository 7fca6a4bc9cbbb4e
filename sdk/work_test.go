package sdk

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestWorkFitted: of a work that is too large the calls that ended last are told whole, and of all of them that
// they were made.
func TestWorkFitted(t *testing.T) {
	large := json.RawMessage(`"` + strings.Repeat("x", 1000) + `"`)
	w := Work{Result: json.RawMessage(`{}`)}
	for n := range 10 {
		w.Done = append(w.Done, WorkDone{Path: fmt.Sprint(n), Arguments: large, Structured: large, Changed: []string{"a"}, ReadOnly: n == 0})
	}
	most := 5000
	got := w.Fitted(most)
	if size := encodedSize(got); size > most {
		t.Errorf("it has %d bytes", size)
	}
	if len(got.Done) != 10 || w.Done[0].Cut || w.Done[0].Arguments == nil {
		t.Errorf("calls are gone, or the original is another: %+v", w.Done[0])
	}
	for n, d := range got.Done {
		if whole := d.Structured != nil && d.Arguments != nil && d.Changed != nil; whole == d.Cut {
			t.Errorf("%d: %+v", n, d)
		}
		if n > 0 && d.Cut && (!got.Done[n-1].Cut || !d.Untold) {
			t.Errorf("%d is cut before the one that ended earlier, or what it changed counts as told", n)
		}
	}
	if got.Done[9].Cut || !got.Done[0].Cut || got.Done[0].Untold {
		t.Errorf("first %+v", got.Done[0])
	}
	if same := w.Fitted(1 << 20); &same.Done[0] != &w.Done[0] {
		t.Error("one that fits is copied")
	}
}

// TestJudgementBounded: what a validator says is a page at most.
func TestJudgementBounded(t *testing.T) {
	var many []string
	for range 1000 {
		many = append(many, strings.Repeat("ä", MaxMissingText))
	}
	got := Judgement{Missing: append([]string{" ", "first"}, many...)}.Bounded()
	if len(got.Missing) != MaxMissing+1 || got.Missing[0] != "first" || len(got.Missing[1]) > MaxMissingText+4 || !strings.Contains(got.Missing[MaxMissing], "1002") {
		t.Errorf("%d: %q", len(got.Missing), got.Missing[MaxMissing])
	}
	if got := (Judgement{Accepted: true}).Bounded(); !got.Accepted || got.Missing != nil {
		t.Errorf("%+v", got)
	}
}
