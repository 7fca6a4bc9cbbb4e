package show

import (
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestWhyACallFailed: what policy said is why a call was denied, and no more than
// that. A tool that refuses says why in its own words.
func TestWhyACallFailed(t *testing.T) {
	allowed := &sdk.Decision{Verdict: sdk.Allow, Reason: `"read_file" only reads, and its plugin is pinned`}
	denied := &sdk.Decision{Verdict: sdk.Deny, Reason: "make is not known to be harmless"}
	asked := &sdk.Decision{Verdict: sdk.Propose, Reason: "it writes"}
	for _, c := range []struct {
		decision *sdk.Decision
		answer   *sdk.ActionAnswer
		outcome  sdk.Outcome
		said     string
		want     string
	}{
		{allowed, nil, sdk.Permission, "a leads out of the project", "refused: a leads out of the project"},
		{allowed, nil, sdk.NotFound, "a does not exist", "failed (not_found): a does not exist"},
		{denied, nil, sdk.Permission, "denied by policy", "denied: make is not known to be harmless"},
		{nil, nil, sdk.Permission, "the agent may not use it", "denied: the agent may not use it"},
		{asked, &sdk.ActionAnswer{Answer: sdk.Accept, By: "a"}, sdk.Permission, "a is protected", "refused: a is protected"},
		{asked, &sdk.ActionAnswer{Answer: sdk.Reject, By: "a", Reason: "not now"}, sdk.Permission, "rejected", "rejected by a: not now"},
	} {
		a := sdk.Action{State: sdk.StateFailed, Outcome: c.outcome, Decision: c.decision, Answer: c.answer, ActionEnd: sdk.ActionEnd{Error: c.said}}
		if got := Ending(&a); got != c.want {
			t.Errorf("%+v: %q, want %q", c, got, c.want)
		}
	}
}
