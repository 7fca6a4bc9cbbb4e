package rpc

import (
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
)

// ToolCall is the parameters of tools/call. Policy judges it like any other
// action, and it is recorded in the run like one.
type ToolCall struct {
	Project   string          `json:"project" access:"project" jsonschema:"absolute path of the project"`
	Tool      string          `json:"tool" access:"free" jsonschema:"name of the tool, or plugin__name"`
	Arguments json.RawMessage `json:"arguments,omitempty" access:"free" jsonschema:"an object that satisfies the tool's schema"`
	Run       string          `json:"run,omitempty" access:"free" jsonschema:"alias of a run; the project's implicit run when absent"`
}

// ToolDone answers tools/call. A tool that ran and failed is a result, not an
// error of the call.
type ToolDone struct {
	Result sdk.ToolResult `json:"result"`
	Path   string         `json:"path"` // the action's entry
	Run    string         `json:"run"`
}
