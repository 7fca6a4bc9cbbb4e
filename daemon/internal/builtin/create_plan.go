package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/agent/team"
	"github.com/bothyd/bothy/sdk"
)

// createPlanTool is create_plan, by which the planning turn of a team says who does what.
type createPlanTool struct{}

// take implements tool. Nobody else is offered it.
func (createPlanTool) take(_ context.Context, t sdk.TurnContext) (turnTool, error) {
	if t.Team == nil || len(t.Agents) == 0 {
		return nil, nil
	}
	return createPlanTurn{*t.Team, t.Agents}, nil
}

// createPlanTurn is create_plan with the agents of a team.
type createPlanTurn struct {
	team   sdk.Team
	agents []sdk.Agent
}

func (c createPlanTurn) tool() sdk.Tool {
	return sdk.Tool{
		ToolSpec: sdk.ToolSpec{
			Name:        sdk.ToolCreatePlan,
			Description: "Says which agent does what. Each task is given to its agent as it stands there, and what all came to is then yours to put together. Call it once, with every task.",
			Parameters:  team.Parameters(c.agents),
			Annotations: sdk.Annotations{ReadOnly: true, Idempotent: true},
		},
		Plugin: Plugin, Pinned: true, Given: true,
	}
}

func (c createPlanTurn) system() string {
	var b strings.Builder
	b.WriteString("You plan the work of a team, and do nothing of it yourself: call " + sdk.ToolCreatePlan + " with a task for each agent that is needed, and no more. The agents:")
	for _, a := range c.agents {
		fmt.Fprintf(&b, "\n- %s", a.Name)
		if a.Description != "" {
			fmt.Fprintf(&b, ": %s", sdk.Excerpt(a.Description))
		}
		if len(a.Capabilities) > 0 {
			fmt.Fprintf(&b, " (%s)", sdk.Excerpt(strings.Join(a.Capabilities, ", ")))
		}
	}
	return b.String()
}

func (createPlanTurn) once(context.Context, json.RawMessage) bool { return false }

// invoke says what of the plan is taken. The engine gives it out.
func (c createPlanTurn) invoke(_ context.Context, call sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
	names := make([]string, len(c.agents))
	for i, a := range c.agents {
		names[i] = a.Name
	}
	p, err := team.Read(call.Arguments, names, c.team.Mode)
	if err != nil {
		return sdk.Failed(err), nil
	}
	return sdk.ToolResult{Success: true, Output: p.Told()}, nil
}
