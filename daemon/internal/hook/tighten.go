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

// onlyTighten takes over what gives a run less, and another temperature.
func onlyTighten(_ string, before, after sdk.ConfigChange) sdk.ConfigChange {
	is, to := &before.Config, after.Config
	is.Temperature = to.Temperature
	if to.ContextLimit > 0 && (is.ContextLimit == 0 || to.ContextLimit < is.ContextLimit) {
		is.ContextLimit = to.ContextLimit
	}
	is.NoRepo, is.NoInteraction = is.NoRepo || to.NoRepo, is.NoInteraction || to.NoInteraction
	is.NoWeb, is.NoProposals, is.NoMemory = is.NoWeb || to.NoWeb, is.NoProposals || to.NoProposals, is.NoMemory || to.NoMemory
	return before
}

// nothing takes nothing over: what a client asked for is what is done, and what a person is shown what is there.
func nothing(_ string, before, _ sdk.SocketRequest) sdk.SocketRequest { return before }

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
