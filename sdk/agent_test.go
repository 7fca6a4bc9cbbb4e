package sdk_test

import (
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestAgentMCP: a server is started for an agent exactly where one of its tools may be
// offered to it.
func TestAgentMCP(t *testing.T) {
	tool := sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "mcp__notes__search"}, Plugin: "mcp__notes"}
	for _, c := range []struct {
		mcp, tools   []string
		uses, admits bool
	}{
		{nil, nil, true, true},
		{nil, []string{"*"}, true, true},
		{nil, []string{"read_*"}, false, false},
		{nil, []string{"mcp__*"}, true, true},
		{nil, []string{"mcp__notes__*"}, true, true},
		{nil, []string{"mcp__notes__search"}, true, true},
		{nil, []string{"mcp__notes__other"}, true, false}, // which tools it has is known when it runs
		{nil, []string{"mcp__note?__*"}, true, true},
		{nil, []string{"mcp__[n]otes__*"}, true, true},
		{nil, []string{"mcp__other__*"}, false, false},
		{[]string{}, []string{"*"}, false, false},
		{[]string{"notes"}, []string{"read_*"}, true, true},
		{[]string{"other"}, nil, false, false},
	} {
		a := sdk.Agent{MCP: c.mcp, Tools: c.tools}
		if a.UsesMCP("notes") != c.uses || a.Admits(tool) != c.admits {
			t.Errorf("mcp %v, tools %v: uses %v, admits %v", c.mcp, c.tools, a.UsesMCP("notes"), a.Admits(tool))
		}
	}
}
