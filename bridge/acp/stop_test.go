package main

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

func TestStopOf(t *testing.T) {
	for name, c := range map[string]struct {
		end    sdk.LoopEnd
		finish string
		want   acp.StopReason
		why    string
	}{
		"an answer":           {sdk.LoopEnd{Status: 200, Stop: sdk.StopAnswer}, "stop", acp.StopReasonEndTurn, ""},
		"a terminal call":     {sdk.LoopEnd{Status: 204, Stop: sdk.StopTerminal}, "calls", acp.StopReasonEndTurn, ""},
		"a rejected call":     {sdk.LoopEnd{Status: 200, Stop: sdk.StopRejected}, "calls", acp.StopReasonEndTurn, ""},
		"the model's length":  {sdk.LoopEnd{Status: 200, Stop: sdk.StopAnswer}, "length", acp.StopReasonMaxTokens, ""},
		"the model's refusal": {sdk.LoopEnd{Status: 200, Stop: sdk.StopAnswer}, "filter", acp.StopReasonRefusal, ""},
		"the guard of turns":  {sdk.LoopEnd{Status: 200, Stop: sdk.GuardMaxTurns}, "calls", acp.StopReasonMaxTurnRequests, "stopped by max_turns"},
		"not finished":        {sdk.LoopEnd{Status: 499, Stop: sdk.StopNotFinished, Reason: "no result"}, "stop", acp.StopReasonMaxTurnRequests, "no result"},
		"aborted":             {sdk.LoopEnd{Status: 499, Stop: sdk.StopAborted}, "", acp.StopReasonCancelled, ""},
		"taken back":          {sdk.LoopEnd{Status: 499, Stop: sdk.StopTaken}, "", acp.StopReasonCancelled, ""},
		"failed":              {sdk.LoopEnd{Status: 500, Stop: sdk.StopFailed, Reason: "the server is down"}, "", "", "the server is down"},
		"too long":            {sdk.LoopEnd{Status: 413, Stop: sdk.StopOverflow, Reason: "it does not fit"}, "", "", "it does not fit"},
		"another guard":       {sdk.LoopEnd{Status: 200, Stop: sdk.GuardRepeatedCalls, Reason: "the same call again"}, "calls", acp.StopReasonMaxTurnRequests, "the same call again"},
		"without a reason":    {sdk.LoopEnd{Status: 500, Stop: sdk.StopFailed}, "", "", "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			got, why := stopOf(&timeline.Loop{End: &c.end, Turns: []*timeline.Turn{{Finish: "calls"}, {Finish: c.finish}}})
			if got != c.want || why != c.why {
				t.Errorf("%q, %q", got, why)
			}
		})
	}
}

// TestFault: the daemon's own codes reach no editor, for one of them asks for a login there.
func TestFault(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		code int
	}{
		"a call that failed":    {rpc.Errorf(rpc.CodeFailed, sdk.Unavailable, "no model"), codeInternal},
		"wrong parameters":      {rpc.Errorf(rpc.CodeParams, sdk.Validation, "no model"), codeParams},
		"something not there":   {fmt.Errorf("asking: %w", rpc.Errorf(rpc.CodeFailed, sdk.NotFound, "no model")), codeNotFound},
		"the connection":        {errors.New("no model"), codeInternal},
		"one of the protocol's": {acp.NewMethodNotFound("x"), -32601},
	} {
		t.Run(name, func(t *testing.T) {
			var got *acp.RequestError
			if err := fault(c.err); !errors.As(err, &got) || got.Code != c.code {
				t.Errorf("%v", err)
			}
		})
	}
	if fault(nil) != nil {
		t.Error("no error is one")
	}
}

// TestInitialize: what the bridge says of itself is what it does.
func TestInitialize(t *testing.T) {
	b := bridge{}
	got, err := b.Initialize(context.Background(), acp.InitializeRequest{ProtocolVersion: 7})
	if err != nil || got.ProtocolVersion != 1 || !got.AgentCapabilities.LoadSession || !got.AgentCapabilities.PromptCapabilities.Image || got.AgentCapabilities.PromptCapabilities.Audio ||
		!got.AgentCapabilities.PromptCapabilities.EmbeddedContext || got.AuthMethods == nil || !got.AgentCapabilities.McpCapabilities.Http || !got.AgentCapabilities.McpCapabilities.Sse {
		t.Errorf("%+v, %v", got, err)
	}
}
