package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// delegateTool is delegate, by which an agent gives a task to another one. The engine makes a run of it: nothing
// runs here.
type delegateTool struct{}

// take implements tool. It is offered to an agent that may delegate to others, and names those.
func (delegateTool) take(_ context.Context, t sdk.TurnContext) (turnTool, error) {
	if len(t.Agents) == 0 {
		return nil, nil
	}
	return delegateTurn{t.Agents}, nil
}

// delegateTurn is delegate with the agents of a turn.
type delegateTurn struct{ agents []sdk.Agent }

func (d delegateTurn) tool() sdk.Tool {
	names := make([]string, len(d.agents))
	var about strings.Builder
	for i, a := range d.agents {
		names[i] = a.Name
		fmt.Fprintf(&about, "\n- %s", a.Name)
		if a.Description != "" {
			fmt.Fprintf(&about, ": %s", sdk.Excerpt(a.Description))
		}
	}
	enum, _ := json.Marshal(names) // of texts, which cannot fail
	return sdk.Tool{
		ToolSpec: sdk.ToolSpec{
			Name: sdk.ToolDelegate,
			Description: "Gives a task to another agent, which works on it in a run of its own, and waits for what it comes to: that is the result. " +
				"It knows nothing of this conversation. Up to four calls next to each other in one answer are worked on at the same time, where what they may write does not overlap. The agents:" + about.String(),
			Parameters: json.RawMessage(`{"type":"object","properties":{` +
				`"agent":{"type":"string","enum":` + string(enum) + `},` +
				`"task":{"type":"string","minLength":1,"description":"what it is to do and to hand back, in full"},` +
				`"context":{"type":"string","description":"what it has to know for that: what was decided, where things are"},` +
				`"writes":{"type":"array","items":{"type":"string","minLength":1},"description":"globs of the only paths that it may change (src/**), of use where several work at the same time; [] is none, without it all that it may otherwise"}},` +
				`"required":["agent","task"],"additionalProperties":false}`),
			Annotations: sdk.Annotations{ReadOnly: true}, // each call of the child is judged
		},
		Plugin: Plugin, Pinned: true, Given: true,
	}
}

func (delegateTurn) system() string                             { return "" }
func (delegateTurn) once(context.Context, json.RawMessage) bool { return false }

func (delegateTurn) invoke(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
	return sdk.ToolResult{}, sdk.Errorf(sdk.Unavailable, "%s runs nothing: a run is made of it", sdk.ToolDelegate)
}
