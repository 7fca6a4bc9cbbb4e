package builtin

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// openable is the network of one project.
type openable struct {
	open   bool
	reason string
	refuse error
}

func (o *openable) Open(string) bool { return o.open }

func (o *openable) Keep(_ context.Context, _, _, reason string) error {
	if o.refuse != nil {
		return o.refuse
	}
	o.open, o.reason = true, reason
	return nil
}

func TestNetworkIsAskedForWhereCommandsRun(t *testing.T) {
	runs := []sdk.Tool{{ToolSpec: sdk.ToolSpec{Name: "bash", Command: "command"}}}
	for name, c := range map[string]struct {
		network Network
		tools   []sdk.Tool
		want    bool
	}{
		"commands, and no network": {&openable{}, runs, true},
		"open already":             {&openable{open: true}, runs, false},
		"nothing runs commands":    {&openable{}, []sdk.Tool{{ToolSpec: sdk.ToolSpec{Name: "read_file"}}}, false},
		"nobody can open it":       {nil, runs, false},
	} {
		if got, err := (openNetworkTool{c.network}).take(t.Context(), sdk.TurnContext{Project: "/p", Tools: c.tools}); err != nil || (got != nil) != c.want {
			t.Errorf("%s: offered %v, %v", name, got, err)
		}
	}
}

func TestOpenNetwork(t *testing.T) {
	network := &openable{}
	b := newFakeRun().builtin(&few{})
	b.tools = []tool{openNetworkTool{network}}
	turn, err := b.Turn(t.Context(), sdk.TurnContext{Project: "/p", Tools: []sdk.Tool{{ToolSpec: sdk.ToolSpec{Name: "bash", Command: "command"}}}})
	if err != nil {
		t.Fatal(err)
	}
	call := func(arguments string) sdk.ToolResult {
		t.Helper()
		r, err := turn.Invoke(t.Context(), sdk.Invocation{Tool: OpenNetwork, Project: "/p", Arguments: json.RawMessage(arguments)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, arguments := range []string{`{}`, `{"reason":" "}`, `{"reason":"x","confirm":true}`, `{"reason":1}`, `[]`} {
		if r := call(arguments); r.Success || r.Outcome != sdk.Validation || network.open {
			t.Errorf("%s: %+v", arguments, r)
		}
	}
	network.refuse = sdk.Errorf(sdk.Unavailable, "nothing can be written")
	if r := call(`{"reason":"fetch it"}`); r.Success || r.Outcome != sdk.Unavailable {
		t.Errorf("got %+v", r)
	}
	network.refuse = nil
	if r := call(`{"reason":"fetch it"}`); !r.Success || !network.open || network.reason != "fetch it" {
		t.Errorf("got %+v, %+v", r, network)
	}
	tool := turn.Tools()[0]
	if tool.Annotations.ReadOnly || !json.Valid(tool.Parameters) {
		t.Errorf("it would be taken for harmless: %+v", tool)
	}
}
