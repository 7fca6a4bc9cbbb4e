package host

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func TestArgumentsOfOtherAgentsAreNamed(t *testing.T) {
	read := &offered{Tool: sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "read_file", Parameters: json.RawMessage(`{"properties":{"path":{},"start_line":{}}}`)}}}
	bash := &offered{Tool: sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "bash", Parameters: json.RawMessage(`{"properties":{"command":{},"dir":{},"timeout_seconds":{}}}`)}}}
	edit := &offered{Tool: sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "edit_file", Parameters: json.RawMessage(`{"properties":{"path":{},"old_text":{},"new_text":{}}}`)}}}
	for _, c := range []struct {
		tool      *offered
		arguments string
		want      string
	}{
		{read, `{"file_path": "a", "offset": 3}`, "file_path is path, offset is start_line"},
		{read, `{"filePath": "a"}`, "filePath is path"},
		{edit, `{"oldString": "a", "new_string": "b", "path": "c"}`, "new_string is new_text, oldString is old_text"},
		{read, `{"path": 3}`, ""},
		{read, `{"path": "a", "file_path": "b"}`, ""},
		{read, `{"cmd": "ls"}`, ""},
		{bash, `{"cmd": "ls", "directory": "x", "timeout": 5}`, "cmd is command, directory is dir, timeout is timeout_seconds"},
		{bash, `["ls"]`, ""},
	} {
		if got := c.tool.misnamedArguments(json.RawMessage(c.arguments)); got != c.want {
			t.Errorf("%s %s: got %q, want %q", c.tool.Name, c.arguments, got, c.want)
		}
		want := sdk.Misnamed
		if c.want == "" {
			want = sdk.Validation
		}
		if err := c.tool.refusal(json.RawMessage(c.arguments), errors.New("no")); sdk.OutcomeOf(err) != want {
			t.Errorf("%s: got %v", c.arguments, err)
		}
	}
}
