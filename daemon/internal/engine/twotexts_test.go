package engine

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestTwoTexts: of each kind of refusal that the engine gives, the person reads the reason
// and the model what to do instead, and neither what the other reads. What policy says is
// handed on so; its own texts are tested there.
func TestTwoTexts(t *testing.T) {
	deny := func(h *askingHouse) {
		h.policy.set(func(sdk.PolicyRequest) sdk.Decision {
			return sdk.Decision{Verdict: sdk.Deny, Rule: "protected", Reason: "git obeys .git/config", Instead: "leave .git/config to the person",
				Commands: []sdk.SeenCommand{{Text: "ls"}, {Text: "tee .git/config", Rule: "protected", Reason: "git obeys .git/config"}}}
		})
	}
	answer := func(a sdk.Answer) func(*askingHouse, Accepted) {
		return func(h *askingHouse, _ Accepted) { h.answer(h.proposed(), a) }
	}
	nothing := func(*askingHouse, Accepted) {}
	clock := &setClock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	for name, c := range map[string]struct {
		before func(*askingHouse)
		then   func(*askingHouse, Accepted)
		which  int // of the calls, which is write and then read
		person string
		model  string
	}{
		"policy": {deny, nothing, 0, "git obeys .git/config", `refused by rule "protected" (tee .git/config): leave .git/config to the person`},
		"behind a refusal": {deny, nothing, 1, "this call was not made because write, before it, was refused",
			"not made: look at what became of write first, and make this call again if it is still needed"},
		"rejected": {nil, answer(sdk.Reject), 0, "a person rejected this call", "the person said no: leave this, and ask before you try the like again"},
		"behind a rejection": {nil, answer(sdk.Reject), 1, "this call was not made because write, before it, was rejected by a person",
			"not made: look at what became of write first, and make this call again if it is still needed"},
		"expired": {func(h *askingHouse) { h.config.Clock = clock.time }, func(h *askingHouse, a Accepted) {
			h.proposed()
			clock.move(25 * time.Hour)
			h.nudge(a.Run.ID)
		}, 0, "nobody answered within a day, so this call was not made", "the person did not answer: go on without this call, and tell them what you wanted to do"},
		"another by now": {nil, func(h *askingHouse, _ Accepted) {
			p := h.proposed()
			h.access.set(func(r *sdk.Reach) { r.Network = true })
			h.answer(p, sdk.Accept)
		}, 0, "this call was not made: what would run is no longer what was agreed to, because what it could touch changed meanwhile",
			"not made: make the call again, and a person is asked about it anew"},
		"a hook without words": {func(h *askingHouse) {
			h.hooks.ProposalAccepting.On(1, "guard", false, func(_ context.Context, r sdk.Resolution) (sdk.Resolution, error) {
				r.Allow = false
				return r, nil
			})
		}, answer(sdk.Accept), 0, "guard refused this call", "refused: do it another way, or leave it to the person"},
		"aborted": {nil, func(h *askingHouse, a Accepted) {
			h.proposed()
			if err := h.engine.Abort(context.Background(), a.Run.ID); err != nil {
				h.t.Fatal(err)
			}
		}, 0, "this call was not made because the work was ended: aborted by a person", "not made: make this call again if it is still needed"},
	} {
		t.Run(name, func(t *testing.T) {
			h := prepareAsking(t, calls(numbered("write", 1), numbered("read", 2)), say("done"))
			if c.before != nil {
				c.before(h)
			}
			h.start()
			a := h.submit(Submission{})
			c.then(h, a)
			l := h.await(a)
			e := h.actions(a.Run.ID)[c.which]
			x, err := sdk.ActionOf(e)
			if err != nil {
				t.Fatal(err)
			}
			if x.Why() != c.person || x.Body != c.model || x.Error != c.model {
				t.Errorf("the person reads %q\nand the model %q (%q)", x.Why(), x.Body, x.Error)
			}
			if strings.Contains(x.Body, x.Reason) || strings.Contains(x.Reason, x.Body) || strings.Contains(l.Reason, x.Body) {
				t.Errorf("one reads what the other does: %q and %q; the loop ended with %q", x.Reason, x.Body, l.Reason)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestARejectionWithAReason: the person's own words are for the model.
func TestARejectionWithAReason(t *testing.T) {
	h := newAsking(t, calls(numbered("write", 1)), say("done"))
	a := h.submit(Submission{})
	p := h.proposed()
	h.resolve(rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Reject, Reason: "use the other file"})
	h.await(a)
	if e := h.actions(a.Run.ID)[0]; !strings.HasSuffix(e.Body, ": use the other file") {
		t.Errorf("the model reads %q", e.Body)
	}
	h.check(a.Run.ID)
}
