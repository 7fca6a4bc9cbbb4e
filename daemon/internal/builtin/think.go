package builtin

import (
	"context"
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
)

var thinkSpec = sdk.Tool{
	ToolSpec: sdk.ToolSpec{
		Name:        sdk.ToolThink,
		Description: "Keeps a thought of yours in the log of this turn. Nothing is done by it.",
		Parameters:  json.RawMessage(`{"type":"object","properties":{"body":{"type":"string","description":"what you weigh or conclude"}},"additionalProperties":false}`),
		Annotations: sdk.Annotations{ReadOnly: true, Idempotent: true},
		Body:        "body",
	},
	Plugin: Plugin, Pinned: true, Named: true,
}

// thinkTool is think, of which the call is all that there is.
type thinkTool struct{}

// take implements tool. It is offered to an agent that names it.
func (k thinkTool) take(_ context.Context, t sdk.TurnContext) (turnTool, error) {
	if t.Admits == nil || !t.Admits(thinkSpec) {
		return nil, nil
	}
	return k, nil
}

func (thinkTool) tool() sdk.Tool                             { return thinkSpec }
func (thinkTool) system() string                             { return "" }
func (thinkTool) once(context.Context, json.RawMessage) bool { return false }

func (thinkTool) invoke(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
	return sdk.ToolResult{Success: true, Output: "kept"}, nil
}
