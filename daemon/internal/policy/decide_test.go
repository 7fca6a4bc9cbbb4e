package policy

import (
	"encoding/json"
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

func tool(name string, pinned bool, a sdk.Annotations, grants ...string) sdk.Tool {
	return sdk.Tool{ToolSpec: sdk.ToolSpec{Name: name, Annotations: a}, Plugin: "p", Pinned: pinned, Grants: grants}
}

// commands is a tool with its argument that is a command line.
func commands(t sdk.Tool) sdk.Tool {
	t.Command = "command"
	return t
}

var (
	reads       = sdk.Annotations{ReadOnly: true}
	destructive = sdk.Annotations{Destructive: true}

	readFile  = tool("read_file", true, reads, sdk.GrantProject)
	writeFile = tool("write_file", true, destructive, sdk.GrantProject)
	moveFile  = tool("move_path", true, destructive, sdk.GrantProject)
	copyFile  = tool("copy_path", true, sdk.Annotations{}, sdk.GrantProject)
	bash      = commands(tool("bash", true, destructive, sdk.GrantSandbox))
)

func TestBuiltIn(t *testing.T) {
	for _, c := range []struct {
		name      string
		tool      sdk.Tool
		mode      sdk.Mode
		arguments string
		verdict   sdk.Verdict
		rule      string
	}{
		{"a read", readFile, sdk.ModeAct, `{"path":"a.go"}`, sdk.Allow, RuleRead},
		{"a read in ask", readFile, sdk.ModeAsk, `{"path":"a.go"}`, sdk.Allow, RuleRead},
		{"a read of a protected path", readFile, sdk.ModeAct, `{"path":".git/config"}`, sdk.Allow, RuleRead},
		{"a read of the project itself", readFile, sdk.ModeAct, `{"path":"."}`, sdk.Allow, RuleRead},
		{"a read without a grant", tool("now", true, reads), sdk.ModeAsk, `{}`, sdk.Allow, RuleRead},
		{"a command", bash, sdk.ModeAct, `{"command":"ls -la","dir":"/workspace"}`, sdk.Allow, RuleProven},
		{"a command that is not known", bash, sdk.ModeAct, `{"command":7}`, sdk.Deny, RuleBadArguments},
		{"a command of a tool that does not say so", tool("sh", true, destructive, sdk.GrantSandbox), sdk.ModeAct, `{"command":"ls"}`, sdk.Deny, RuleSandbox},
		{"a command in ask", bash, sdk.ModeAsk, `{"command":"ls"}`, sdk.Deny, RuleAskMode},
		{"a command, mode unset", bash, "", `{"command":"ls"}`, sdk.Deny, RuleAskMode},
		{"a write", writeFile, sdk.ModeAct, `{"path":"a/b.go"}`, sdk.Allow, RuleProject},
		{"a write in ask", writeFile, sdk.ModeAsk, `{"path":"a/b.go"}`, sdk.Deny, RuleAskMode},
		{"a write that goes up inside", writeFile, sdk.ModeAct, `{"path":"a/../b"}`, sdk.Allow, RuleProject},
		{"X7 absolute", writeFile, sdk.ModeAct, `{"path":"/abs"}`, sdk.Deny, RuleOutside},
		{"a read in a skill", readFile, sdk.ModeAsk, `{"path":"/skills/pdf/SKILL.md"}`, sdk.Allow, RuleRead},
		{"a read of the skills", readFile, sdk.ModeAct, `{"path":"/skills/"}`, sdk.Allow, RuleRead},
		{"a read out of the skills", readFile, sdk.ModeAct, `{"path":"/skills/../etc/passwd"}`, sdk.Deny, RuleOutside},
		{"a read beside the skills", readFile, sdk.ModeAct, `{"path":"/skillset/x"}`, sdk.Deny, RuleOutside},
		{"a control character in a skill", readFile, sdk.ModeAct, `{"path":"/skills/a\u0000b"}`, sdk.Deny, RuleOutside},
		{"a read in a skill by another's tool", tool("look", true, reads), sdk.ModeAct, `{"path":"/skills/x"}`, sdk.Deny, RuleOutside},
		{"a write into a skill", writeFile, sdk.ModeAct, `{"path":"/skills/pdf/SKILL.md"}`, sdk.Deny, RuleOutside},
		{"a copy out of a skill", copyFile, sdk.ModeAct, `{"source":"/skills/pdf/x","destination":"x"}`, sdk.Deny, RuleOutside},
		{"a skill", tool("use_skill", true, sdk.Annotations{ReadOnly: true, Idempotent: true}), sdk.ModeAsk, `{"name":"pdf","input":"/etc/passwd"}`, sdk.Allow, RuleRead},
		{"X7 home", writeFile, sdk.ModeAct, `{"path":"~/x"}`, sdk.Deny, RuleOutside},
		{"X7 another's home", readFile, sdk.ModeAct, `{"path":"~root/x"}`, sdk.Deny, RuleOutside},
		{"X7 escaping", readFile, sdk.ModeAct, `{"path":"a/../../b"}`, sdk.Deny, RuleOutside},
		{"just up", readFile, sdk.ModeAct, `{"path":".."}`, sdk.Deny, RuleOutside},
		{"a name that begins with two dots", writeFile, sdk.ModeAct, `{"path":"..a"}`, sdk.Allow, RuleProject},
		{"a control character", writeFile, sdk.ModeAct, `{"path":"a\u0000b"}`, sdk.Deny, RuleOutside},
		{"in a list", writeFile, sdk.ModeAct, `{"paths":["a","../b"]}`, sdk.Deny, RuleOutside},
		{"in an object", writeFile, sdk.ModeAct, `{"edits":[{"path":"a"},{"file":"/b"}]}`, sdk.Deny, RuleOutside},
		{"another case", writeFile, sdk.ModeAct, `{"Path":"/b"}`, sdk.Deny, RuleOutside},
		{"text is no path", writeFile, sdk.ModeAct, `{"path":"a","content":"/etc/passwd ../.."}`, sdk.Allow, RuleProject},
		{"git hook", writeFile, sdk.ModeAct, `{"path":".git/hooks/pre-commit"}`, sdk.Deny, RuleProtected},
		{"git hook, roundabout", writeFile, sdk.ModeAct, `{"path":"x/../.git/./hooks/p"}`, sdk.Deny, RuleProtected},
		{"git hook, other case", writeFile, sdk.ModeAct, `{"path":".GIT/Hooks/p"}`, sdk.Deny, RuleProtected},
		{"git config", writeFile, sdk.ModeAct, `{"path":".git/config"}`, sdk.Deny, RuleProtected},
		{"git's other configuration", writeFile, sdk.ModeAct, `{"path":".git/config.worktree"}`, sdk.Deny, RuleProtected},
		{"git's configuration elsewhere", writeFile, sdk.ModeAct, `{"path":".git/commondir"}`, sdk.Deny, RuleProtected},
		{"a submodule's hook", writeFile, sdk.ModeAct, `{"path":".git/modules/m/hooks/pre-commit"}`, sdk.Deny, RuleProtected},
		{"a path in another spelling", writeFile, sdk.ModeAct, `{"filePath":"/etc/x"}`, sdk.Deny, RuleOutside},
		{"a path in one word", writeFile, sdk.ModeAct, `{"filepath":"../x"}`, sdk.Deny, RuleOutside},
		{"a path with a word before it", writeFile, sdk.ModeAct, `{"Output-File":".git/hooks/x"}`, sdk.Deny, RuleProtected},
		{"directories", readFile, sdk.ModeAct, `{"search_directories":["a","/etc"]}`, sdk.Deny, RuleOutside},
		{"paths as keys", writeFile, sdk.ModeAct, `{"files":{"a":"x","../b":"y"}}`, sdk.Deny, RuleOutside},
		{"content under paths as keys", writeFile, sdk.ModeAct, `{"files":{"a.c":"/* ../.. */"}}`, sdk.Allow, RuleProject},
		{"a number under a path's name", writeFile, sdk.ModeAct, `{"path":7}`, sdk.Allow, RuleProject},
		{"beside git config", writeFile, sdk.ModeAct, `{"path":".git/config.bak"}`, sdk.Allow, RuleProject},
		{"git's other configuration", writeFile, sdk.ModeAct, `{"path":".git/commondir"}`, sdk.Deny, RuleProtected},
		{"a submodule's hook", writeFile, sdk.ModeAct, `{"path":".git/modules/a/hooks/p"}`, sdk.Deny, RuleProtected},
		{"a repository below", writeFile, sdk.ModeAct, `{"path":"a/b/.Git/config"}`, sdk.Deny, RuleProtected},
		{"a repository made below", moveFile, sdk.ModeAct, `{"source":"x","destination":"a/.git"}`, sdk.Deny, RuleProtected},
		{"the head of a repository below", writeFile, sdk.ModeAct, `{"path":"a/.git/HEAD"}`, sdk.Allow, RuleProject},
		{"no repository", writeFile, sdk.ModeAct, `{"path":"a/hooks/config"}`, sdk.Allow, RuleProject},
		{"bothy", writeFile, sdk.ModeAct, `{"path":".bothy"}`, sdk.Deny, RuleProtected},
		{"agents", writeFile, sdk.ModeAct, `{"path":".agents/skills/x/SKILL.md"}`, sdk.Deny, RuleProtected},
		{"skills of other agents", writeFile, sdk.ModeAct, `{"path":".claude/skills/x/SKILL.md"}`, sdk.Deny, RuleProtected},
		{"what holds them", moveFile, sdk.ModeAct, `{"source":".claude","destination":"x"}`, sdk.Deny, RuleProtected},
		{"beside them", writeFile, sdk.ModeAct, `{"path":".claude/settings.json"}`, sdk.Allow, RuleProject},
		{"lock", writeFile, sdk.ModeAct, `{"path":"bothy.lock"}`, sdk.Deny, RuleProtected},
		{"move git away", moveFile, sdk.ModeAct, `{"source":".git","destination":"x"}`, sdk.Deny, RuleProtected},
		{"move onto git", moveFile, sdk.ModeAct, `{"source":"x","destination":".git"}`, sdk.Deny, RuleProtected},
		{"move from a protected path", moveFile, sdk.ModeAct, `{"source":"bothy.lock","destination":"x"}`, sdk.Deny, RuleProtected},
		{"copy from a protected path", copyFile, sdk.ModeAct, `{"source":".agents/a","destination":"x"}`, sdk.Allow, RuleProject},
		{"copy onto a protected path", copyFile, sdk.ModeAct, `{"source":"x","destination":".agents/a"}`, sdk.Deny, RuleProtected},
		{"X9 the project itself", writeFile, sdk.ModeAct, `{"path":".","recursive":true}`, sdk.Deny, RuleProtected},
		{"X9 nothing", writeFile, sdk.ModeAct, `{"path":"","recursive":true}`, sdk.Deny, RuleProtected},
		{"not pinned, says it reads", tool("x", false, reads), sdk.ModeAct, `{}`, sdk.Deny, RuleUnpinned},
		{"not pinned, sandbox", tool("x", false, reads, sdk.GrantSandbox), sdk.ModeAct, `{}`, sdk.Deny, RuleUnpinned},
		{"a side effect without a grant", tool("send", true, sdk.Annotations{OpenWorld: true}), sdk.ModeAct, `{}`, sdk.Deny, RuleUnknown},
		{"another grant", tool("x", true, sdk.Annotations{}, sdk.GrantModels, sdk.GrantEntries), sdk.ModeAct, `{}`, sdk.Deny, RuleUnknown},
		{"both grants: paths are judged", tool("x", true, sdk.Annotations{}, sdk.GrantSandbox, sdk.GrantProject), sdk.ModeAct, `{"path":"/x"}`, sdk.Deny, RuleOutside},
		{"arguments that are no object", writeFile, sdk.ModeAct, `[]`, sdk.Deny, RuleBadArguments},
		{"no arguments", writeFile, sdk.ModeAct, ``, sdk.Allow, RuleProject},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := New(Settings{}).Decide(sdk.PolicyRequest{Tool: c.tool, Mode: c.mode, Arguments: json.RawMessage(c.arguments), Project: "/p"})
			if got.Verdict != c.verdict || got.Rule != c.rule {
				t.Fatalf("%s by %s (%s), want %s by %s", got.Verdict, got.Rule, got.Reason, c.verdict, c.rule)
			}
			if got.Reason == "" || strings.Contains(got.Reason, "%!") {
				t.Fatalf("reason %q", got.Reason)
			}
		})
	}
}

// TestNoWriteEscapes: whatever path is allowed to a writing tool stays below
// the project and touches nothing protected.
func TestNoWriteEscapes(t *testing.T) {
	part := rapid.SampledFrom([]string{"..", ".", "", "a", ".git", "hooks", "config", "commondir", ".GIT", ".bothy", ".agents", ".claude", "skills", "bothy.lock", "~", "~x", "...", "\\"})
	rapid.Check(t, func(t *rapid.T) {
		p := strings.Join(rapid.SliceOfN(part, 1, 8).Draw(t, "parts"), "/")
		arguments, err := json.Marshal(map[string]any{"nested": []any{map[string]any{"path": p}}})
		if err != nil {
			t.Fatal(err)
		}
		if New(Settings{}).Decide(sdk.PolicyRequest{Tool: writeFile, Mode: sdk.ModeAct, Arguments: arguments}).Verdict != sdk.Allow {
			return
		}
		joined := path.Join("/project", p)
		if !strings.HasPrefix(joined, "/project/") {
			t.Fatalf("%q leaves the project: %s", p, joined)
		}
		rel := strings.ToLower(strings.TrimPrefix(joined, "/project/"))
		for _, name := range protected {
			if rel == name || strings.HasPrefix(rel, name+"/") || strings.HasPrefix(name, rel+"/") {
				t.Fatalf("%q touches %s", p, name)
			}
		}
		for _, name := range protectedGit {
			if strings.Contains("/"+rel+"/", "/.git/"+name+"/") || path.Base(rel) == ".git" {
				t.Fatalf("%q touches %s of a repository", p, name)
			}
		}
		if path.IsAbs(p) || strings.HasPrefix(p, "~") {
			t.Fatalf("%q was allowed", p)
		}
	})
}
