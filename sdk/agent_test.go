package sdk_test

import (
	"strings"
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

// TestAgentLent: a server that was lent to a run is that run's alone, whatever its agent names.
func TestAgentLent(t *testing.T) {
	tool := sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "mcp___7_notes__search"}, Plugin: "mcp___7_notes"}
	for _, c := range []struct {
		mcp, tools, lent []string
		has              bool
	}{
		{nil, nil, nil, false},
		{nil, []string{"*"}, nil, false},
		{[]string{"_7_notes"}, []string{"mcp__*"}, nil, false},
		{nil, nil, []string{"_8_notes"}, false},
		{nil, nil, []string{"_8_notes", "_7_notes"}, true},
		{[]string{}, []string{"read_*"}, []string{"_7_notes"}, true},
	} {
		a := sdk.Agent{MCP: c.mcp, Tools: c.tools, Lent: c.lent}
		if a.UsesMCP("_7_notes") != c.has || a.Admits(tool) != c.has {
			t.Errorf("mcp %v, tools %v, lent %v: uses %v, admits %v", c.mcp, c.tools, c.lent, a.UsesMCP("_7_notes"), a.Admits(tool))
		}
	}
}

// TestWithout: what an agent's file holds back the agent has not, by whichever name.
func TestWithout(t *testing.T) {
	for without, tools := range map[string]map[string]bool{
		"bash":             {"bash": false, "read_file": true},
		"mcp__github__*":   {"mcp__github__create_issue": false, "bash": true},
		"files__read_file": {"read_file": false},
		"[":                {"bash": false}, // what cannot be read holds all back
	} {
		for name, admits := range tools {
			tool := sdk.Tool{ToolSpec: sdk.ToolSpec{Name: name}, Plugin: "files"}
			if server, is := strings.CutPrefix(name, sdk.MCPPrefix); is {
				tool.Plugin = sdk.MCPPrefix + strings.SplitN(server, "__", 2)[0]
			}
			if got := (sdk.Agent{Without: []string{without}}).Admits(tool); got != admits {
				t.Errorf("without %s: %s is admitted: %v", without, name, got)
			}
		}
	}
	shell := sdk.Tool{ToolSpec: sdk.ToolSpec{Name: sdk.ToolSh}, Plugin: "bash", Declared: "bash", Runs: "bash", Named: true}
	if (sdk.Agent{Tools: []string{"*", sdk.ToolSh}, Without: []string{"bash"}}).Admits(shell) {
		t.Error("sh runs what the agent has not")
	}
}

// TestAdmits: globs are read as path.Match reads them, whatever they begin with, over the bare name and the qualified one.
func TestAdmits(t *testing.T) {
	for glob, admits := range map[string]bool{
		"*": true, "read_file": true, "files__read_file": true, "read_*": true, "files__*": true, "?ead_file": true, "[r]ead_file": true, `\read_file`: true, "*_file": true,
		"": false, "read": false, "reads_*": false, "grep": false, "[": false, "[^r]ead_file": false, "files__": false, "?": false,
	} {
		tool := sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "read_file"}, Plugin: "files"}
		if got := (sdk.Agent{Tools: []string{glob}}).Admits(tool); got != admits {
			t.Errorf("%q admits it: %v", glob, got)
		}
		if got := (sdk.Agent{Bound: &sdk.Bound{Tools: []string{glob}}}).Admits(tool); got != admits {
			t.Errorf("bound to %q it is admitted: %v", glob, got)
		}
	}
}

// TestOffline: an agent without a network has no tool that reaches one, by the word of somebody or for the want of one.
func TestOffline(t *testing.T) {
	pinned := func(name, plugin string, open bool) sdk.Tool {
		return sdk.Tool{ToolSpec: sdk.ToolSpec{Name: name, Annotations: sdk.Annotations{OpenWorld: open}}, Plugin: plugin, Pinned: true}
	}
	unpinned := pinned("read_file", "files", false)
	unpinned.Pinned = false
	given := pinned("fetch", sdk.OwnPlugin, true)
	given.Given = true
	for name, c := range map[string]struct {
		tool   sdk.Tool
		admits bool
	}{
		"a file":                    {pinned("read_file", "files", false), true},
		"the web":                   {pinned("web_fetch", "web", true), false},
		"the network of commands":   {pinned("open_network", sdk.OwnPlugin, true), false},
		"what a turn is given":      {given, false},
		"a server of MCP":           {pinned("mcp__a__get", "mcp__a", true), false},
		"a server that was lent":    {pinned("mcp___a__get", "mcp___a", true), false},
		"a server's closed tool":    {pinned("mcp__a__add", "mcp__a", false), true},
		"what nobody vouches for":   {unpinned, false},
		"a command in the sandbox":  {pinned("bash", "bash", false), true},
		"what answers to delegates": {pinned("delegate", sdk.OwnPlugin, false), true},
	} {
		closed := sdk.Agent{Tools: []string{"*"}, Network: new(false), MCP: []string{"a"}, Lent: []string{"_a"}}
		if got := closed.Admits(c.tool); got != c.admits {
			t.Errorf("%s is admitted: %t", name, got)
		}
		open := closed
		open.Network = new(true)
		if !open.Admits(c.tool) {
			t.Errorf("%s is not admitted where the network is said to be open", name)
		}
		if got := open.In(sdk.Run{Offline: true}).Admits(c.tool); got != c.admits {
			t.Errorf("%s is admitted in a run without a network: %t", name, got)
		}
	}
}
