package main

import (
	"cmp"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/timeline"
)

// What a provider says of how an answer ended (sdk.Finish).
const (
	finishLength = "length"
	finishFilter = "filter"
)

// stopOf is the stop reason of a loop that has ended, empty where the protocol has none, and the daemon's sentence of one that
// did not end well. The limit of requests stands for all that stops a loop: what else there is says that it went well, was refused
// or was cancelled, and an error that the bridge or the daemon failed.
func stopOf(l *timeline.Loop) (reason acp.StopReason, why string) {
	switch l.End.Stop {
	case sdk.StopAborted, sdk.StopTaken:
		return acp.StopReasonCancelled, ""
	case sdk.StopRejected:
		return acp.StopReasonEndTurn, ""
	}
	switch sdk.StopExit(l.End.Stop, l.End.Status) {
	case sdk.ExitOK:
	case sdk.ExitStopped:
		return acp.StopReasonMaxTurnRequests, whyOf(l)
	default:
		return "", whyOf(l)
	}
	finish := ""
	if n := len(l.Turns); n > 0 {
		finish = l.Turns[n-1].Finish
	}
	switch finish {
	case finishLength:
		return acp.StopReasonMaxTokens, ""
	case finishFilter:
		return acp.StopReasonRefusal, ""
	}
	return acp.StopReasonEndTurn, ""
}

// whyOf is the daemon's sentence of a loop that did not end well.
func whyOf(l *timeline.Loop) string {
	return cmp.Or(l.End.Reason, sdk.StopText(l.End.Stop, l.End.Status))
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
