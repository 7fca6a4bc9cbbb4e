package policy

import (
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestWrites: a run changes what it was given to change, and nothing of which that is not known before it is done.
func TestWrites(t *testing.T) {
	blind := tool("format", true, destructive, sdk.GrantProject)
	for _, c := range []struct {
		name      string
		tool      sdk.Tool
		arguments string
		mode      sdk.Mode
		set       Settings
		verdict   sdk.Verdict
		rule      string
	}{
		{"a path of it", writeFile, `{"path":"src/a.go"}`, "", Settings{}, sdk.Allow, RuleProject},
		{"another path", writeFile, `{"path":"docs/a.md"}`, "", Settings{}, sdk.Deny, RuleWrites},
		{"another path in full mode", writeFile, `{"path":"docs/a.md"}`, sdk.ModeFull, Settings{}, sdk.Deny, RuleWrites},
		{"a way around", writeFile, `{"path":"src/../docs/a.md"}`, "", Settings{}, sdk.Deny, RuleWrites},
		{"where a link leads", writeFile, `{"path":"src/out"}`, "", Settings{}, sdk.Deny, RuleWrites},
		{"a path of it that is protected", writeFile, `{"path":"src/.git/config"}`, "", Settings{}, sdk.Deny, RuleProtected},
		{"moved out of it", moveFile, `{"source":"src/a","destination":"b"}`, "", Settings{}, sdk.Deny, RuleWrites},
		{"copied into it", copyFile, `{"source":"b","destination":"src/a"}`, "", Settings{}, sdk.Allow, RuleProject},
		{"another path read", readFile, `{"path":"docs/a.md"}`, "", Settings{}, sdk.Allow, RuleRead},
		{"an entry", setEntry, `{"path":"known://a","body":"x"}`, "", Settings{}, sdk.Allow, RuleEntries},
		{"a tool that names no path", blind, `{}`, "", Settings{}, sdk.Deny, RuleWrites},
		{"a command that reads", bash, `{"command":"ls"}`, "", Settings{}, sdk.Allow, RuleProven},
		{"a command", bash, `{"command":"touch a"}`, "", Settings{}, sdk.Deny, RuleWrites},
		{"a command in full mode", bash, `{"command":"make"}`, sdk.ModeFull, Settings{}, sdk.Deny, RuleWrites},
		{"a command where a person is asked", bash, `{"command":"make"}`, sdk.ModeInteractive, Settings{}, sdk.Propose, RuleWrites},
		{"a command that a rule allows", bash, `{"command":"make"}`, "", Settings{Rules: []sdk.PolicyRule{{Name: "own", Verdict: sdk.Allow, Tools: []string{"*"}}}}, sdk.Deny, RuleWrites},
		{"a command that is denied", bash, `{"command":"sudo ls"}`, sdk.ModeFull, Settings{}, sdk.Deny, ""},
		{"a command on a copy", bash, `{"command":"make"}`, sdk.ModeWorkspace, Settings{View: true}, sdk.Allow, RuleView},
		{"a command of full mode on a copy", bash, `{"command":"make"}`, sdk.ModeFull, Settings{View: true}, sdk.Allow, ""},
		{"a command in a folder of its own", bash, `{"command":"touch a"}`, "", Settings{Workspace: sdk.WorkspacePrivate}, sdk.Allow, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := sdk.PolicyRequest{Tool: c.tool, Arguments: []byte(c.arguments), Project: "/p", Mode: c.mode, Writes: []string{"src/**"},
				Links: map[string]string{"src/out": "docs/in"}}
			d := New(c.set).Decide(r)
			if d.Verdict != c.verdict || c.rule != "" && d.Rule != c.rule {
				t.Errorf("%s by %s: %s", d.Verdict, d.Rule, d.Reason)
			}
			if d.Verdict == sdk.Allow && c.set.View && !d.View {
				t.Error("it may work without the copy")
			}
		})
	}
}
