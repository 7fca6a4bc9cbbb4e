package hook

import (
	"cmp"

	"github.com/bothyd/bothy/sdk"
)

// onlyStop takes over the ruling of a subscriber that ends a loop which would
// go on. A stop holds: nobody behind it can loosen or reword it, and nobody
// before it can hide from it what the turn did.
func onlyStop(_ string, before, after sdk.TurnResult) sdk.TurnResult {
	if before.Ruling.Continue && !after.Ruling.Continue {
		before.Ruling = after.Ruling
	}
	return before
}

// onlyVeto takes over a veto. It holds: nobody behind it can let the answer pass.
func onlyVeto(owner string, before, after sdk.Resolution) sdk.Resolution {
	if before.Allow && !after.Allow {
		before.Allow, before.Outcome, before.Body, before.By = false, after.Outcome, after.Body, owner
	}
	return before
}

// onlyReject takes over a rejection, or other attributes of a call that may
// still be made. A rejection holds: nobody behind it can let the call pass.
func onlyReject(owner string, before, after sdk.Recording) sdk.Recording {
	if before.State == sdk.StateStreaming {
		before.State, before.Outcome, before.Body, before.Attributes = after.State, after.Outcome, after.Body, after.Attributes
		if before.State != sdk.StateStreaming {
			before.By = owner
		}
		before.Repeats = cmp.Or(before.Repeats, after.Repeats)
	}
	return before
}
