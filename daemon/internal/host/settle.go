package host

import (
	"context"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// settleTimeout bounds what a plugin may take to say what a call came to, once
// it is ready: a run waits for it.
const settleTimeout = 10 * time.Second

// Settle asks a tool's plugin what a call came to that an earlier daemon had
// begun. A result is what Invoke would have answered, and says recovered in its
// metadata. The error is an *sdk.Error: not_found for an unknown tool, and
// interrupted when nobody knows, which says nothing about what the call did.
// Asking is no attempt to make the call, and may be done again.
func (s *Supervisor) Settle(ctx context.Context, call sdk.Invocation) (sdk.ToolResult, error) {
	o, err := s.tools().find(call.Tool)
	if err != nil {
		return sdk.ToolResult{}, err
	}
	l, err := o.owner.callableFor(ctx, call.Run, call.RunDir)
	if err != nil {
		return sdk.ToolResult{}, interrupted(err)
	}
	defer l.endCall(call.Run)
	call.Tool = o.remote
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	var r sdk.ToolResult
	err = l.bound(ctx, func(rpc context.Context) (err error) {
		r, err = l.tool.Settle(rpc, call)
		return err
	})
	if err != nil {
		o.owner.log.Info("nobody knows what a call came to that was cut short", "tool", o.Name, "call", call.CallID, "reason", err)
		return sdk.ToolResult{}, interrupted(err)
	}
	if r.Metadata == nil {
		r.Metadata = map[string]any{}
	}
	r.Metadata["recovered"] = true
	return o.believe(r, false), nil
}

// interrupted is the one answer for a call of which nothing is known; why is in
// its chain.
func interrupted(err error) error {
	return &sdk.Error{Outcome: sdk.Interrupted, Message: "the daemon ended while this call ran; what it did is unknown", Cause: err}
}
