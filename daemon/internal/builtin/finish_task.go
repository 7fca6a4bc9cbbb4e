package builtin

import (
	"context"
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
)

const finishDescription = "Hands over the result of the work, and ends it. The arguments are the result. Call it alone, when everything is done: " +
	"where it is not accepted the answer says what is missing. What stands behind an accepted call in the same answer is not made."

const finishSystem = "The work ends when you hand its result over by calling " + sdk.ToolFinish + ". An answer in plain text does not end it."

// finishTool is finish_task, whose calls the engine judges: nothing runs.
type finishTool struct{ spec sdk.Tool }

// take implements tool. It is offered where a result has to be handed over, whatever the agent may use.
func (finishTool) take(_ context.Context, t sdk.TurnContext) (turnTool, error) {
	if t.Finish == nil {
		return nil, nil
	}
	return finishTool{sdk.Tool{
		ToolSpec: sdk.ToolSpec{
			Name: sdk.ToolFinish, Description: finishDescription, Parameters: t.Finish.Schema,
			Annotations: sdk.Annotations{ReadOnly: true, Idempotent: true, Terminal: true},
		},
		Plugin: Plugin, Pinned: true, Given: true,
	}}, nil
}

func (f finishTool) tool() sdk.Tool                           { return f.spec }
func (finishTool) system() string                             { return finishSystem }
func (finishTool) once(context.Context, json.RawMessage) bool { return false }

func (finishTool) invoke(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
	return sdk.ToolResult{}, sdk.Errorf(sdk.Unavailable, "%s runs nothing: its arguments are the result", sdk.ToolFinish)
}
