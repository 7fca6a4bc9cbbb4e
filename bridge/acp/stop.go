package main

import (
	"cmp"
	"errors"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/timeline"
)

// What a provider says of how an answer ended (sdk.Finish).
const (
	finishLength = "length"
	finishFilter = "filter"
)

// stopOf is the stop reason of a loop that has ended; an error, with the daemon's sentence, where
// the protocol has none.
func stopOf(l *timeline.Loop) (acp.StopReason, error) {
	switch l.End.Stop {
	case sdk.StopAborted, sdk.StopTaken:
		return acp.StopReasonCancelled, nil
	case sdk.GuardMaxTurns:
		return acp.StopReasonMaxTurnRequests, nil
	case sdk.StopRejected:
		return acp.StopReasonEndTurn, nil
	}
	if sdk.StopExit(l.End.Stop, l.End.Status) != sdk.ExitOK {
		return "", errors.New(cmp.Or(l.End.Reason, sdk.StopText(l.End.Stop, l.End.Status)))
	}
	finish := ""
	if n := len(l.Turns); n > 0 {
		finish = l.Turns[n-1].Finish
	}
	switch finish {
	case finishLength:
		return acp.StopReasonMaxTokens, nil
	case finishFilter:
		return acp.StopReasonRefusal, nil
	}
	return acp.StopReasonEndTurn, nil
}

// usageOf is what a loop used; nil where no provider told.
func usageOf(l *timeline.Loop) *acp.Usage {
	u := l.Usage()
	if u.Prompt+u.Completion == 0 {
		return nil
	}
	used := acp.Usage{InputTokens: u.Prompt, OutputTokens: u.Completion, TotalTokens: cmp.Or(u.Total, u.Prompt+u.Completion)}
	if u.Cached > 0 {
		used.CachedReadTokens = &u.Cached
	}
	if u.Reasoning > 0 {
		used.ThoughtTokens = &u.Reasoning
	}
	return &used
}
