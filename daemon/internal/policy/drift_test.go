package policy

import (
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// ofServer is a tool of the MCP server s, as it is when it was accepted or drifted.
func ofServer(a sdk.Annotations, drift string, grants ...string) sdk.Tool {
	return sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "mcp__s__x", Source: "/s", Annotations: a}, Plugin: "mcp__s", Drift: drift, Grants: grants}
}

// TestDrift: no rule and no mode lets a tool run that is another than it was; a rule that denies
// still does.
func TestDrift(t *testing.T) {
	allow := sdk.PolicyRule{Name: "a", Verdict: sdk.Allow, Tools: []string{"mcp__s__*"}}
	for _, mode := range []sdk.Mode{sdk.ModeInteractive, sdk.ModeRestricted, sdk.ModeWorkspace, sdk.ModeFull} {
		for _, attended := range []bool{true, false} {
			want := sdk.Propose
			if mode != sdk.ModeInteractive && !attended {
				want = sdk.Deny
			}
			p := New(Settings{Rules: []sdk.PolicyRule{allow}, View: true})
			r := sdk.PolicyRequest{Tool: ofServer(reads, "has another schema"), Mode: mode, Attended: attended}
			if d := p.Decide(r); d.Rule != RuleDrift || d.Verdict != want {
				t.Errorf("%s, attended %v: %+v", mode, attended, d)
			}
			r.Tool.Drift = ""
			if d := p.Decide(r); d.Rule != "a" && mode != sdk.ModeFull || d.Verdict != sdk.Allow {
				t.Errorf("%s, attended %v, as it was: %+v", mode, attended, d)
			}
		}
	}
	deny := sdk.PolicyRule{Name: "d", Verdict: sdk.Deny, Tools: []string{"mcp__s__x"}}
	if d := New(Settings{Rules: []sdk.PolicyRule{deny}}).Decide(sdk.PolicyRequest{Tool: ofServer(reads, "is new"), Attended: true}); d.Rule != "d" {
		t.Errorf("%+v", d)
	}
}

// TestAcceptedServer: what a server says of its tools counts once it is accepted, and no grant of
// the plugin is the server's.
func TestAcceptedServer(t *testing.T) {
	p := New(Settings{Mode: sdk.ModeRestricted})
	for _, c := range []struct {
		tool   sdk.Tool
		pinned bool
		want   sdk.Verdict
	}{
		{ofServer(reads, ""), false, sdk.Propose},
		{ofServer(reads, ""), true, sdk.Allow},
		{ofServer(destructive, ""), true, sdk.Propose},
		{ofServer(destructive, "", sdk.GrantProject), true, sdk.Propose},
		{ofServer(destructive, "", sdk.GrantSandbox), true, sdk.Propose},
	} {
		c.tool.Pinned = c.pinned
		if d := p.Decide(sdk.PolicyRequest{Tool: c.tool, Attended: true}); d.Verdict != c.want {
			t.Errorf("%+v: %+v", c.tool, d)
		}
	}
	if d := p.Decide(sdk.PolicyRequest{Tool: sdk.Tool{ToolSpec: ofServer(reads, "").ToolSpec, Plugin: "mcp__s", Pinned: true}, ReadOnly: true}); d.Verdict != sdk.Allow {
		t.Errorf("in a prompt that only reads: %+v", d)
	}
}
