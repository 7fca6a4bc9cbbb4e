package builtin

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// OpenNetwork is the tool by which a model asks for the network. Policy proposes
// it in every mode: only a person opens the network.
const OpenNetwork = "open_network"

// Network is whether the commands of a project may use the network, and how it
// is opened. What opens it is kept until a person forgets it.
type Network interface {
	Open(project string) bool
	// Keep opens it by the call of a tool; reason is what the model said.
	Keep(ctx context.Context, project, tool, reason string) error
}

var openNetworkSpec = sdk.Tool{
	ToolSpec: sdk.ToolSpec{
		Name:        OpenNetwork,
		Description: "Asks a person to open the network for the commands of this project, which have none: to download a dependency, say, or to reach a service. A person is always asked, and shown the reason; without one to ask it is refused. Try what works without the network first. Once it is open it stays so for the project until a person closes it; this machine's own loopback is never reached.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"reason":{"type":"string","minLength":1,"maxLength":500,` +
			`"description":"what has to be reached and why, in one sentence for the person who decides"}},"required":["reason"],"additionalProperties":false}`),
		Annotations: sdk.Annotations{Idempotent: true, OpenWorld: true},
	},
	Plugin: Plugin, Pinned: true,
}

// openNetworkTool is open_network.
type openNetworkTool struct{ network Network }

// take implements tool. The tool is offered where it makes sense to ask:
// something runs commands, and the network is closed.
func (o openNetworkTool) take(_ context.Context, t sdk.TurnContext) (turnTool, error) {
	runs := slices.ContainsFunc(t.Tools, func(x sdk.Tool) bool { return x.Command != "" })
	if o.network == nil || !runs || t.Run.Private || o.network.Open(t.Project) {
		return nil, nil
	}
	return o, nil
}

func (openNetworkTool) tool() sdk.Tool                             { return openNetworkSpec }
func (openNetworkTool) system() string                             { return "" }
func (openNetworkTool) once(context.Context, json.RawMessage) bool { return false }

// invoke runs once a person has agreed.
func (o openNetworkTool) invoke(ctx context.Context, call sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
	var a struct {
		Reason string `json:"reason"`
	}
	if err := sdk.ReadJSON(call.Arguments, &a); err != nil || strings.TrimSpace(a.Reason) == "" {
		return sdk.Failed(sdk.Errorf(sdk.Validation, "%s needs a reason, in words for the person who decides, and nothing else", OpenNetwork)), nil
	}
	if err := o.network.Keep(ctx, call.Project, Plugin+"__"+OpenNetwork, a.Reason); err != nil {
		return sdk.Failed(err), nil
	}
	return sdk.ToolResult{Success: true, Output: "The network is open for the commands of this project. The next one gets a new container: /tmp is empty, $HOME and the project are as they were."}, nil
}
