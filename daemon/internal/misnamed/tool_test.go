package misnamed

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func TestNamesOfOtherAgentsAreUnderstood(t *testing.T) {
	tools := []sdk.Tool{
		{Plugin: "bash", ToolSpec: sdk.ToolSpec{Name: "bash", Parameters: []byte(`{"type":"object","properties":{"command":{},"dir":{},"timeout_seconds":{}},"required":["command"]}`)}},
		{Plugin: "files", ToolSpec: sdk.ToolSpec{Name: "read_file", Parameters: []byte(`{"type":"object","properties":{"path":{}},"required":["path"]}`)}},
		{Plugin: "files", ToolSpec: sdk.ToolSpec{Name: "edit_file"}},
		{Plugin: "files", ToolSpec: sdk.ToolSpec{Name: "delete_path", Parameters: []byte(`{"type":"object","properties":{"path":{},"recursive":{}},"required":["path"]}`)}},
	}
	for name, want := range map[string]string{
		"Bash": "bash does that, with the arguments command, (dir, timeout_seconds)", "shell": "bash", "run_terminal_cmd": "bash", "functions.bash": "bash",
		"Read": "read_file", "ReadFile": "read_file", "read-file": "read_file",
		"apply_patch": "edit_file does that, with the arguments that it declares", "str_replace_based_edit_tool": "edit_file", "MultiEdit": "edit_file",
		"rm": "delete_path does that, with the arguments path, (recursive). This call", "Glob": "", "nonsense": "", "": "", "_": "",
	} {
		err := Tool(name, tools)
		switch {
		case want == "" && err == nil:
		case want == "", err == nil, sdk.OutcomeOf(err) != sdk.Misnamed, !strings.Contains(err.Error(), "here; "+want):
			t.Errorf("%q: got %v, want %q", name, err, want)
		}
	}
}

// TestNamesOfOtherAgentsLeadSomewhere: none is itself one that would be folded otherwise.
func TestNamesOfOtherAgentsLeadSomewhere(t *testing.T) {
	for name, tool := range namesElsewhere {
		if folded(name) != name || tool == "" || namesElsewhere[folded(tool)] != "" {
			t.Errorf("%q leads to %q", name, tool)
		}
	}
}
