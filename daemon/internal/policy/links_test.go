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

// TestWorked: the paths that a call works on are those that it names, where links lead.
func TestWorked(t *testing.T) {
	other := tool("fetch", true, reads)
	live := Live{
		Sandbox: func(string) sdk.Sandbox { return sdk.Sandbox{} },
		Links: func(_ string, named []string) map[string]string {
			return map[string]string{"in/x": "src/x", "out/x": "/etc/x", "in": "src"}
		},
	}
	for _, c := range []struct {
		call    sdk.PolicyRequest
		want    []string // among others
		not     []string
		private bool
	}{
		{call: callOf(readFile, map[string]any{"path": "a/b"}), want: []string{"a/b"}},
		{call: callOf(readFile, map[string]any{"path": "/workspace/a/b"}), want: []string{"a/b"}},
		{call: callOf(readFile, map[string]any{"path": "./c/..//a/b/"}), want: []string{"a/b"}, not: []string{"./c/..//a/b/"}},
		{call: callOf(readFile, map[string]any{"path": "/workspace/./a/b"}), want: []string{"a/b"}},
		{call: callOf(readFile, map[string]any{"path": "in/x"}), want: []string{"src/x"}, not: []string{"in/x"}},
		{call: callOf(readFile, map[string]any{"path": "out/x"}), not: []string{"out/x", "/etc/x"}},
		{call: callOf(other, map[string]any{"path": "a/b"}), not: []string{"a/b"}},
		{call: lineOf("cd a && cat b"), want: []string{"a", "a/b"}},
		{call: callOf(bash, map[string]any{"command": "make", "dir": "sub"}), want: []string{"sub"}},
		{call: callOf(bash, map[string]any{"command": "make", "dir": "/workspace/sub"}), want: []string{"sub"}},
		{call: callOf(bash, map[string]any{"command": "make", "dir": "in"}), want: []string{"src"}, not: []string{"in"}},
		{call: callOf(bash, map[string]any{"command": "make", "dir": "/tmp"}), not: []string{"/tmp", "tmp"}},
		{call: callOf(bash, map[string]any{"command": "cat a/b", "dir": "sub"}), not: []string{"sub", "a/b", "sub/a/b"}, private: true},
	} {
		live.Written = func(string) Settings {
			set := Settings{}
			if c.private {
				set.Workspace = sdk.WorkspacePrivate
			}
			return set
		}
		got := live.Worked(sdk.PolicyRequest{Tool: c.call.Tool, Project: "/p/one", Arguments: c.call.Arguments})
		for _, at := range c.want {
			if !slices.Contains(got, at) {
				t.Errorf("%s: %q lacks %q", c.call.Arguments, got, at)
			}
		}
		for _, at := range c.not {
			if slices.Contains(got, at) {
				t.Errorf("%s: %q has %q", c.call.Arguments, got, at)
			}
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
