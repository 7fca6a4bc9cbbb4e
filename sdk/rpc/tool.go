package rpc

import (
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
)

// ToolsParams is the parameters of tools/list.
type ToolsParams struct {
	People bool `json:"people,omitempty" access:"free" jsonschema:"those that only people call, such as the prompts of MCP servers, and no others"`
}

// ToolCall is the parameters of tools/call. Policy judges it like any other
// action, and it is recorded in the run like one.
type ToolCall struct {
	Project   string          `json:"project" access:"project" jsonschema:"absolute path of the project"`
	Tool      string          `json:"tool" access:"free" jsonschema:"name of the tool, or plugin__name"`
	Arguments json.RawMessage `json:"arguments,omitempty" access:"free" jsonschema:"an object that satisfies the tool's schema"`
	Run       string          `json:"run,omitempty" access:"alias" jsonschema:"alias of a run; the project's implicit run when absent"`
	Model     string          `json:"model,omitempty" access:"free" jsonschema:"the model that is asked where the tool asks one and names none; that of the run when absent"`
	Join      bool            `json:"join,omitempty" access:"free" jsonschema:"the run's model reads the call and its result, as what the person did; needs a run"`
	From      *sdk.From       `json:"from,omitempty" access:"free" jsonschema:"as that of act"`
}

// ToolCancel is the parameters of tools/cancel.
type ToolCancel struct {
	Run     string `json:"run" access:"run" jsonschema:"the run's alias in the project, or its id"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Action  string `json:"action,omitempty" access:"free" jsonschema:"the call's path, as its rows tell: log://turn_N/TOOL/NAME; all calls of clients in the run when absent"`
}

// ToolCancelled answers tools/cancel at once: the ends themselves are in the journal.
type ToolCancelled struct {
	Run     string   `json:"run"`
	ID      int64    `json:"id"`
	Actions []string `json:"actions"` // that were told to end
}

// ToolDone answers tools/call. A tool that ran and failed is a result, not an
// error of the call.
type ToolDone struct {
	Result sdk.ToolResult `json:"result"`
	Path   string         `json:"path"` // the action's entry
	Run    string         `json:"run"`
}
