package policy

import (
	"slices"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/protect"
)

// TestLinksOfCalls: a call is judged by where the links lead that it names.
func TestLinksOfCalls(t *testing.T) {
	led := map[string]string{"g/commondir": ".git/commondir", "v/x": ".vscode/x", "e": ".env", "s/x": "src/x", "out/x": "/etc/x"}
	for _, c := range []struct {
		call sdk.PolicyRequest
		want sdk.Verdict
		rule string
	}{
		{lineOf("echo x > g/commondir"), sdk.Deny, RuleProtected}, {lineOf("tee g/commondir"), sdk.Deny, RuleProtected}, {lineOf("cp a g/commondir"), sdk.Deny, RuleProtected},
		{lineOf("mv a g/commondir"), sdk.Deny, RuleProtected}, {lineOf("echo x > v/x"), sdk.Propose, "shell.path"}, {lineOf("echo x > s/x"), sdk.Allow, "shell.redirect"},
		{lineOf("cat e"), sdk.Propose, "shell.secret"}, {lineOf("echo x > .git/hooks/pre-commit"), sdk.Deny, RuleProtected},
		{callOf(writeFile, map[string]any{"path": "g/commondir"}), sdk.Deny, RuleProtected}, {callOf(writeFile, map[string]any{"path": "v/x"}), sdk.Propose, RuleAsked},
		{callOf(readFile, map[string]any{"path": "e"}), sdk.Propose, RuleSecret}, {callOf(writeFile, map[string]any{"path": "s/x"}), sdk.Allow, RuleProject},
		{callOf(writeFile, map[string]any{"path": "out/x"}), sdk.Allow, RuleProject},
	} {
		c.call.Mode, c.call.Attended, c.call.Links = sdk.ModeRestricted, true, led
		if got := New(Settings{}).Decide(c.call); got.Verdict != c.want || got.Rule != c.rule {
			t.Errorf("%s: %s by %s (%s), want %s by %s", c.call.Arguments, got.Verdict, got.Rule, got.Reason, c.want, c.rule)
		}
	}
	got := New(Settings{}).Paths(callOf(bash, map[string]any{"command": "cd a && cp x ../g/commondir > b", "dir": "sub"}))
	for _, name := range []string{"sub", "sub/a", "sub/a/../g/commondir", "sub/a/b"} {
		if !slices.Contains(got, name) {
			t.Errorf("%q lacks %q", got, name)
		}
	}
}

// TestProtectionSettings: what is configured holds for calls of tools and for
// lines, and in a folder of the run's own nothing does.
func TestProtectionSettings(t *testing.T) {
	set := Settings{Protect: sdk.Protection{Refuse: []string{"keys"}, Ask: []string{"Makefile"}, Free: []string{".vscode"}}}
	for _, c := range []struct {
		call sdk.PolicyRequest
		want string // by set, and in a private workspace
	}{
		{callOf(writeFile, map[string]any{"path": "a/keys/x"}), "XX"}, {callOf(writeFile, map[string]any{"path": "Makefile"}), "QQ"}, {callOf(writeFile, map[string]any{"path": ".vscode/x"}), "AA"},
		{lineOf("echo x > keys/a"), "XA"}, {lineOf("echo x > Makefile"), "QA"}, {lineOf("echo x > .vscode/a"), "AA"}, {lineOf("echo x > .git/config"), "XA"},
	} {
		c.call.Mode, c.call.Attended = sdk.ModeRestricted, true
		got := ""
		for _, workspace := range []string{"project", sdk.WorkspacePrivate} {
			set := set
			set.Workspace = workspace
			got += map[sdk.Verdict]string{sdk.Allow: "A", sdk.Propose: "Q", sdk.Deny: "X"}[New(set).Decide(c.call).Verdict]
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.call.Arguments, got, c.want)
		}
	}
}

// TestFoundPaths: what git's configuration names is asked about, or denied, by any
// tool and line that names it; a call that a result asked for names what was judged.
func TestFoundPaths(t *testing.T) {
	set := Settings{Found: []protect.Finding{{Class: protect.Asked, Reason: "git runs it", Name: "tools/conv.sh"}, {Class: protect.Refused, Reason: "git obeys it", Name: "team.cfg"}}}
	apply := tool("apply", true, destructive, sdk.GrantSandbox, sdk.GrantProject)
	apply.Unlisted = true
	for _, c := range []struct {
		call sdk.PolicyRequest
		want sdk.Verdict
		rule string
	}{
		{callOf(writeFile, map[string]any{"path": "tools/conv.sh"}), sdk.Propose, RuleAsked}, {callOf(writeFile, map[string]any{"path": "team.cfg"}), sdk.Deny, RuleProtected},
		{lineOf("echo x > tools/conv.sh"), sdk.Propose, "shell.path"}, {lineOf("echo x > team.cfg"), sdk.Deny, RuleProtected}, {lineOf("cat team.cfg"), sdk.Allow, RuleProven},
		{callOf(apply, map[string]any{"paths": []any{map[string]any{"path": ".git/config"}, map[string]any{"path": "a"}}}), sdk.Propose, RuleFollow},
	} {
		c.call.Mode, c.call.Attended = sdk.ModeRestricted, true
		if got := New(set).Decide(c.call); got.Verdict != c.want || got.Rule != c.rule {
			t.Errorf("%s: %s by %s (%s), want %s by %s", c.call.Arguments, got.Verdict, got.Rule, got.Reason, c.want, c.rule)
		}
	}
}
