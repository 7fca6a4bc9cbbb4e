package misnamed

import (
	"slices"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func TestHere(t *testing.T) {
	for in, want := range map[string]string{
		"Read": "read_file", "Bash(git:*)": "bash", "bash": "bash", "mcp__server__tool": "mcp__server__tool", "Write": "write_file", "NotebookEdit": "edit_file",
		"Skill": "use_skill", "Grep": "grep", "LS": "list_files", "WebFetch": "", "Nonsense": "", "": "", " read_file ": "read_file",
	} {
		if got, foreign := Here(in); got != want || foreign != (in == "WebFetch") {
			t.Errorf("Here(%q) = %q, %v, want %q", in, got, foreign, want)
		}
	}
}

func TestMissing(t *testing.T) {
	offered := []sdk.Tool{{Plugin: "files", ToolSpec: sdk.ToolSpec{Name: "read_file"}}, {Plugin: "mcp", ToolSpec: sdk.ToolSpec{Name: "x"}}}
	required := []string{"Read", "read_file(x)", "files__read_file", "mcp__x", "x", "Bash", "teleport", "mcp__y"}
	if got := Missing(required, offered); !slices.Equal(got, []string{"Bash", "teleport", "mcp__y"}) {
		t.Errorf("missing are %q", got)
	}
}
