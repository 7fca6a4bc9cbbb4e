package main

import (
	"testing"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestAnswerOf: an answer is one of those that were offered, and about what was shown.
func TestAnswerOf(t *testing.T) {
	p := sdk.Proposal{ID: "p", Hash: "h"}
	offered := []acp.PermissionOption{{OptionId: answerOnce}, {OptionId: answerAlways + "call"}, {OptionId: answerReject}}
	unfit := offered[2:]
	for _, c := range []struct {
		chosen  string
		offered []acp.PermissionOption
		want    rpc.Resolve
		is      bool
	}{
		{answerOnce, offered, rpc.Resolve{Answer: sdk.Accept}, true},
		{answerReject, offered, rpc.Resolve{Answer: sdk.Reject}, true},
		{answerAlways + "call", offered, rpc.Resolve{Answer: sdk.Accept, Remember: "call"}, true},
		{answerAlways + "tool", offered, rpc.Resolve{}, false}, // more than was offered
		{answerAlways, offered, rpc.Resolve{}, false},
		{answerOnce, unfit, rpc.Resolve{}, false}, // what cannot be shown whole is not allowed here
		{answerAlways + "call", unfit, rpc.Resolve{}, false},
		{answerReject, unfit, rpc.Resolve{Answer: sdk.Reject}, true},
		{"", offered, rpc.Resolve{}, false},
	} {
		got, is := answerOf(p, c.offered, acp.RequestPermissionOutcome{Selected: &acp.RequestPermissionOutcomeSelected{OptionId: acp.PermissionOptionId(c.chosen)}})
		if is != c.is || is && (got.ID != "p" || got.Hash != "h" || got.Answer != c.want.Answer || got.Remember != c.want.Remember) {
			t.Errorf("%q of %d: %+v %v", c.chosen, len(c.offered), got, is)
		}
	}
	if _, is := answerOf(p, offered, acp.RequestPermissionOutcome{Cancelled: &acp.RequestPermissionOutcomeCancelled{}}); is {
		t.Error("a question that was taken back has an answer")
	}
}
