package host

import (
	"context"

	"github.com/bothyd/bothy/sdk"
)

// Settle asks a tool's plugin what a call came to that an earlier daemon had
// begun. The error is an *sdk.Error: not_found for an unknown tool, interrupted
// when nobody knows, which says nothing about what the call did.
func (s *Supervisor) Settle(_ context.Context, call sdk.Invocation) (sdk.ToolResult, error) {
	if _, err := s.tools().find(call.Tool); err != nil {
		return sdk.ToolResult{}, err
	}
	return sdk.ToolResult{}, sdk.Errorf(sdk.Interrupted, "the daemon ended while this call ran; what it did is unknown")
}
