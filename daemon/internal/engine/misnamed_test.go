package engine

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
	}
	for name, want := range map[string]string{
		"Bash": "bash", "shell": "bash", "run_terminal_cmd": "bash", "functions.bash": "bash", "Read": "read_file", "ReadFile": "read_file", "read-file": "read_file",
		"apply_patch": "edit_file", "str_replace_based_edit_tool": "edit_file", "MultiEdit": "edit_file",
		"Glob": "", "nonsense": "", "": "", "_": "",
	} {
		got, ok := misnamed(name, tools)
		if got.Name != want || ok != (want != "") {
			t.Errorf("%q: got %q, want %q", name, got.Name, want)
		}
	}
	err := toldName("Bash", tools[0])
	if sdk.OutcomeOf(err) != sdk.Misnamed || !strings.Contains(err.Error(), "bash does that, with the arguments command, (dir, timeout_seconds)") {
		t.Errorf("got %v", err)
	}
	if got := argumentNames(tools[2]); got != "that it declares" {
		t.Errorf("got %q", got)
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
