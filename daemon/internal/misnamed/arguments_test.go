package misnamed

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func TestArgumentsOfOtherAgentsAreNamed(t *testing.T) {
	tool := func(name, parameters string) sdk.Tool {
		return sdk.Tool{ToolSpec: sdk.ToolSpec{Name: name, Parameters: json.RawMessage(parameters)}}
	}
	read := tool("read_file", `{"properties":{"path":{},"start_line":{}},"required":["path"]}`)
	bash := tool("bash", `{"type":"object","properties":{"command":{},"dir":{},"timeout_seconds":{}},"required":["command"],"additionalProperties":false}`)
	edit := tool("edit_file", `{"properties":{"path":{},"old_text":{},"new_text":{}}}`)
	open := tool("open", `{"properties":{"path":{},"limit":{}},"required":["path"],"additionalProperties":true}`)
	either := tool("either", `{"properties":{"path":{}},"patternProperties":{"^f":{}}}`)
	for _, c := range []struct {
		tool      sdk.Tool
		arguments string
		want      string // of the names; empty: whoever validates has the say
	}{
		{read, `{"file_path": "a", "offset": 3}`, "file_path is path, offset is start_line"},
		{read, `{"path": "a", "offset": 3}`, "offset is start_line"},
		{read, `{"filePath": "a"}`, "filePath is path"},
		{edit, `{"oldString": "a", "new_string": "b", "path": "c"}`, "new_string is new_text, oldString is old_text"},
		{bash, `{"cmd": "ls"}`, "cmd is command"},
		{bash, `{"cmd": "ls", "directory": "x", "timeout": 5}`, "cmd is command, directory is dir, timeout is timeout_seconds"},
		{open, `{"file": "a"}`, "file is path"},
		{open, `{"path": "a", "maxResults": 3}`, ""},
		{either, `{"file": "a"}`, ""},
		{read, `{"path": 3}`, ""},
		{read, `{"path": "a", "file_path": "b"}`, ""},
		{read, `{"cmd": "ls"}`, ""},
		{bash, `["ls"]`, ""},
		{bash, `{`, ""},
		{tool("none", ``), `{"cmd": "ls"}`, ""},
	} {
		err := Arguments(c.tool, json.RawMessage(c.arguments))
		switch {
		case c.want == "" && err == nil:
		case c.want == "", err == nil, sdk.OutcomeOf(err) != sdk.Misnamed, !strings.Contains(err.Error(), "here: "+c.want+". This call was not made"):
			t.Errorf("%s %s: got %v, want %q", c.tool.Name, c.arguments, err, c.want)
		}
	}
}
