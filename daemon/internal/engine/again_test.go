package engine

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestToldToMakeItAgain: a model that makes the call again which it was told to make
// again did nothing wrong. No guard counts that, and it is asked about each time.
func TestToldToMakeItAgain(t *testing.T) {
	same := numbered("write", 1)
	h := newAsking(t, calls(same), calls(same), calls(same), calls(same), say("done"))
	a := h.submit(Submission{})
	for n := range 3 {
		p := h.proposed()
		h.access.set(func(r *sdk.Reach) { r.Network = n%2 == 0 })
		h.answer(p, sdk.Accept)
		h.until("it is answered", func() bool { return strings.Count(h.outcomes(a.Run.ID), "write:failed:again") == n+1 })
	}
	h.answer(h.proposed(), sdk.Accept)
	if l := h.await(a); l.Stop != sdk.StopAnswer {
		t.Errorf("ended %d %q: %s", l.Status, l.Stop, l.Reason)
	}
	if got := h.outcomes(a.Run.ID); got != "write:failed:again write:failed:again write:failed:again write:resolved" {
		t.Errorf("got %s", got)
	}
	h.check(a.Run.ID)
}
