package policy

import (
	"encoding/json"
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/protect"
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
	copyEntry = sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "cp", Annotations: sdk.Annotations{Idempotent: true}}, Plugin: "bothy", Pinned: true, Entries: true}
	setEntry  = sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "set", Annotations: sdk.Annotations{Idempotent: true}}, Plugin: "bothy", Pinned: true, Entries: true}
	remember  = sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "remember", Keeps: true}, Plugin: "memory", Pinned: true}
	given     = sdk.Tool{ToolSpec: sdk.ToolSpec{Name: sdk.ToolFinish}, Plugin: sdk.OwnPlugin, Pinned: true, Given: true}
	bash      = commands(tool("bash", true, destructive, sdk.GrantSandbox))
	sh        = named("sh", bash)
	env       = named("env", bash)
)

// named is sh or env, whose calls a tool makes.
func named(name string, by sdk.Tool) sdk.Tool {
	by.Runs, by.Declared, by.Name, by.Named, by.Looks = by.Name, by.Name, name, true, name == "env"
	return by
}

// spec: mode_enforcement wrong_ask_env
func TestBuiltIn(t *testing.T) {
	for _, c := range []struct {
		name      string
		tool      sdk.Tool
		readOnly  bool
		arguments string
		verdict   sdk.Verdict
		rule      string
	}{
		{"a read", readFile, false, `{"path":"a.go"}`, sdk.Allow, RuleRead},
		{"a read in ask", readFile, true, `{"path":"a.go"}`, sdk.Allow, RuleRead},
		{"a read of a protected path", readFile, false, `{"path":".git/config"}`, sdk.Allow, RuleRead},
		{"a read of the project itself", readFile, false, `{"path":"."}`, sdk.Allow, RuleRead},
		{"a read without a grant", tool("now", true, reads), true, `{}`, sdk.Allow, RuleRead},
		{"an entry", setEntry, false, `{"path":"known://a","body":"x"}`, sdk.Allow, RuleEntries},
		{"an entry in ask", setEntry, true, `{"path":"known://a","body":"x"}`, sdk.Allow, RuleEntries},
		{"an entry whose path goes up", setEntry, true, `{"path":"known://a/../../b"}`, sdk.Allow, RuleEntries},
		{"an entry of a file's name", setEntry, false, `{"path":"known:///etc/passwd","to":"known://.git/config"}`, sdk.Allow, RuleEntries},
		{"attributes are no paths", setEntry, false, `{"path":"known://a","attributes":{"path":"/etc/passwd"}}`, sdk.Allow, RuleEntries},
		{"an entry into a file", setEntry, false, `{"path":"known://a","to":"a.txt"}`, sdk.Deny, RuleBadArguments},
		{"a file by a verb", setEntry, false, `{"path":".git/config"}`, sdk.Deny, RuleBadArguments},
		{"a file by its scheme", setEntry, false, `{"path":"FILE:///etc/passwd"}`, sdk.Deny, RuleBadArguments},
		{"a file by a verb in ask", setEntry, true, `{"path":"a.txt"}`, sdk.Deny, RuleAskMode},
		{"what a plugin keeps", remember, false, `{"key":"town"}`, sdk.Allow, RuleEntries},
		{"what a plugin keeps, in ask", remember, true, `{"key":"town"}`, sdk.Allow, RuleEntries},
		{"what nothing vouches for", sdk.Tool{ToolSpec: remember.ToolSpec, Plugin: "memory"}, true, `{}`, sdk.Deny, RuleAskMode},
		{"what is given", given, false, `{"path":"/etc/passwd","files":[".git/config"]}`, sdk.Allow, RuleGiven},
		{"what is given in ask", given, true, `{"path":"../a"}`, sdk.Allow, RuleGiven},
		{"what is given without an object", given, true, `[]`, sdk.Allow, RuleGiven},
		{"a file into an entry", copyEntry, true, `{"path":"a.txt","to":"known://a/../../b"}`, sdk.Allow, RuleRead},
		{"a file from outside into an entry", copyEntry, false, `{"path":"../a.txt","to":"known://a"}`, sdk.Deny, RuleOutside},
		{"credentials into an entry", copyEntry, false, `{"path":".env","to":"known://a"}`, sdk.Deny, RuleSecret},
		{"a file into a file by a verb", copyEntry, false, `{"path":"a","to":"b"}`, sdk.Deny, RuleBadArguments},
		{"a path that is no text", setEntry, true, `{"path":["known://a"]}`, sdk.Deny, RuleAskMode},
		{"a verb that nothing vouches for", sdk.Tool{ToolSpec: setEntry.ToolSpec, Plugin: "p", Entries: true}, true, `{"path":"known://a"}`, sdk.Deny, RuleAskMode},
		{"a command", bash, false, `{"command":"ls -la","dir":"/workspace"}`, sdk.Allow, RuleProven},
		{"a command that is not known", bash, false, `{"command":7}`, sdk.Deny, RuleBadArguments},
		{"a command of a tool that does not say so", tool("sh", true, destructive, sdk.GrantSandbox), false, `{"command":"ls"}`, sdk.Deny, RuleSandbox},
		{"a command in ask", bash, true, `{"command":"ls"}`, sdk.Deny, RuleAskMode},
		{"sh", sh, false, `{"command":"ls"}`, sdk.Allow, RuleProven},
		{"sh in ask", sh, true, `{"command":"ls"}`, sdk.Deny, RuleAskMode},
		{"env", env, false, `{"command":"cat a | grep b"}`, sdk.Allow, RuleProven},
		{"env in ask", env, true, `{"command":"git status && ls -la"}`, sdk.Allow, RuleProven},
		{"env in ask that changes something", env, true, `{"command":"touch a"}`, sdk.Deny, RuleAskMode},
		{"env in ask that writes a file", env, true, `{"command":"ls > a"}`, sdk.Deny, RuleAskMode},
		{"env in ask with what nobody knows", env, true, `{"command":"./look"}`, sdk.Deny, RuleAskMode},
		{"env in ask around another", env, true, `{"command":"env ./look"}`, sdk.Deny, RuleAskMode},
		{"env in ask that destroys", env, true, `{"command":"rm -rf /"}`, sdk.Deny, "shell.deny"},
		{"env in ask without a line", env, true, `{}`, sdk.Deny, RuleBadArguments},
		{"env that nothing vouches for in ask", named("env", commands(tool("bash", false, reads, sdk.GrantSandbox))), true, `{"command":"ls"}`, sdk.Deny, RuleAskMode},
		{"a write", writeFile, false, `{"path":"a/b.go"}`, sdk.Allow, RuleProject},
		{"a write in ask", writeFile, true, `{"path":"a/b.go"}`, sdk.Deny, RuleAskMode},
		{"a write that goes up inside", writeFile, false, `{"path":"a/../b"}`, sdk.Allow, RuleProject},
		{"X7 absolute", writeFile, false, `{"path":"/abs"}`, sdk.Deny, RuleOutside},
		{"a read in a skill", readFile, true, `{"path":"/skills/pdf/SKILL.md"}`, sdk.Allow, RuleRead},
		{"a read of the skills", readFile, false, `{"path":"/skills/"}`, sdk.Allow, RuleRead},
		{"a read out of the skills", readFile, false, `{"path":"/skills/../etc/passwd"}`, sdk.Deny, RuleOutside},
		{"a read beside the skills", readFile, false, `{"path":"/skillset/x"}`, sdk.Deny, RuleOutside},
		{"a control character in a skill", readFile, false, `{"path":"/skills/a\u0000b"}`, sdk.Deny, RuleOutside},
		{"a read in a skill by another's tool", tool("look", true, reads), false, `{"path":"/skills/x"}`, sdk.Deny, RuleOutside},
		{"a write into a skill", writeFile, false, `{"path":"/skills/pdf/SKILL.md"}`, sdk.Deny, RuleOutside},
		{"a copy out of a skill", copyFile, false, `{"source":"/skills/pdf/x","destination":"x"}`, sdk.Deny, RuleOutside},
		{"a skill", tool("use_skill", true, sdk.Annotations{ReadOnly: true, Idempotent: true}), true, `{"name":"pdf","input":"/etc/passwd"}`, sdk.Allow, RuleRead},
		{"X7 home", writeFile, false, `{"path":"~/x"}`, sdk.Deny, RuleOutside},
		{"X7 another's home", readFile, false, `{"path":"~root/x"}`, sdk.Deny, RuleOutside},
		{"X7 escaping", readFile, false, `{"path":"a/../../b"}`, sdk.Deny, RuleOutside},
		{"just up", readFile, false, `{"path":".."}`, sdk.Deny, RuleOutside},
		{"a name that begins with two dots", writeFile, false, `{"path":"..a"}`, sdk.Allow, RuleProject},
		{"a control character", writeFile, false, `{"path":"a\u0000b"}`, sdk.Deny, RuleOutside},
		{"in a list", writeFile, false, `{"paths":["a","../b"]}`, sdk.Deny, RuleOutside},
		{"in an object", writeFile, false, `{"edits":[{"path":"a"},{"file":"/b"}]}`, sdk.Deny, RuleOutside},
		{"another case", writeFile, false, `{"Path":"/b"}`, sdk.Deny, RuleOutside},
		{"text is no path", writeFile, false, `{"path":"a","content":"/etc/passwd ../.."}`, sdk.Allow, RuleProject},
		{"git hook", writeFile, false, `{"path":".git/hooks/pre-commit"}`, sdk.Deny, RuleProtected},
		{"git hook, roundabout", writeFile, false, `{"path":"x/../.git/./hooks/p"}`, sdk.Deny, RuleProtected},
		{"git hook, other case", writeFile, false, `{"path":".GIT/Hooks/p"}`, sdk.Deny, RuleProtected},
		{"git hook, alike to HFS+", writeFile, false, `{"path":".g\u200cit/hooks/p"}`, sdk.Deny, RuleProtected},
		{"git config", writeFile, false, `{"path":".git/config"}`, sdk.Deny, RuleProtected},
		{"git's other configuration", writeFile, false, `{"path":".git/config.worktree"}`, sdk.Deny, RuleProtected},
		{"git's configuration elsewhere", writeFile, false, `{"path":".git/commondir"}`, sdk.Deny, RuleProtected},
		{"a submodule's hook", writeFile, false, `{"path":".git/modules/m/hooks/pre-commit"}`, sdk.Deny, RuleProtected},
		{"a path in another spelling", writeFile, false, `{"filePath":"/etc/x"}`, sdk.Deny, RuleOutside},
		{"a path in one word", writeFile, false, `{"filepath":"../x"}`, sdk.Deny, RuleOutside},
		{"a path with a word before it", writeFile, false, `{"Output-File":".git/hooks/x"}`, sdk.Deny, RuleProtected},
		{"directories", readFile, false, `{"search_directories":["a","/etc"]}`, sdk.Deny, RuleOutside},
		{"paths as keys", writeFile, false, `{"files":{"a":"x","../b":"y"}}`, sdk.Deny, RuleOutside},
		{"content under paths as keys", writeFile, false, `{"files":{"a.c":"/* ../.. */"}}`, sdk.Allow, RuleProject},
		{"a number under a path's name", writeFile, false, `{"path":7}`, sdk.Allow, RuleProject},
		{"beside git config", writeFile, false, `{"path":".git/config.bak"}`, sdk.Deny, RuleProtected},
		{"git's other configuration", writeFile, false, `{"path":".git/commondir"}`, sdk.Deny, RuleProtected},
		{"a submodule's hook", writeFile, false, `{"path":".git/modules/a/hooks/p"}`, sdk.Deny, RuleProtected},
		{"a repository below", writeFile, false, `{"path":"a/b/.Git/config"}`, sdk.Deny, RuleProtected},
		{"a repository made below", moveFile, false, `{"source":"x","destination":"a/.git"}`, sdk.Deny, RuleProtected},
		{"the head of a repository below", writeFile, false, `{"path":"a/.git/HEAD"}`, sdk.Deny, RuleProtected},
		{"no repository", writeFile, false, `{"path":"a/hooks/config"}`, sdk.Allow, RuleProject},
		{"bothy", writeFile, false, `{"path":".bothy"}`, sdk.Deny, RuleProtected},
		{"agents", writeFile, false, `{"path":".agents/skills/x/SKILL.md"}`, sdk.Deny, RuleProtected},
		{"skills of other agents", writeFile, false, `{"path":".claude/skills/x/SKILL.md"}`, sdk.Deny, RuleProtected},
		{"what holds them", moveFile, false, `{"source":".claude","destination":"x"}`, sdk.Deny, RuleProtected},
		{"beside them", writeFile, false, `{"path":".claude/settings.json"}`, sdk.Deny, RuleProtected},
		{"what an editor runs", writeFile, false, `{"path":"a/.vscode/tasks.json"}`, sdk.Deny, RuleAsked},
		{"what holds it", moveFile, false, `{"source":".github","destination":"x"}`, sdk.Deny, RuleAsked},
		{"credentials that are read", readFile, false, `{"path":"a/.env"}`, sdk.Deny, RuleSecret},
		{"credentials that are written", writeFile, false, `{"path":"a/.env"}`, sdk.Allow, RuleProject},
		{"credentials that are copied", moveFile, false, `{"source":".env","destination":"x"}`, sdk.Deny, RuleSecret},
		{"lock", writeFile, false, `{"path":"bothy.lock"}`, sdk.Deny, RuleProtected},
		{"move git away", moveFile, false, `{"source":".git","destination":"x"}`, sdk.Deny, RuleProtected},
		{"move onto git", moveFile, false, `{"source":"x","destination":".git"}`, sdk.Deny, RuleProtected},
		{"move from a protected path", moveFile, false, `{"source":"bothy.lock","destination":"x"}`, sdk.Deny, RuleProtected},
		{"copy from a protected path", copyFile, false, `{"source":".agents/a","destination":"x"}`, sdk.Allow, RuleProject},
		{"copy onto a protected path", copyFile, false, `{"source":"x","destination":".agents/a"}`, sdk.Deny, RuleProtected},
		{"X9 the project itself", writeFile, false, `{"path":".","recursive":true}`, sdk.Deny, RuleProtected},
		{"X9 nothing", writeFile, false, `{"path":"","recursive":true}`, sdk.Deny, RuleProtected},
		{"not pinned, says it reads", tool("x", false, reads), false, `{}`, sdk.Deny, RuleUnpinned},
		{"not pinned, sandbox", tool("x", false, reads, sdk.GrantSandbox), false, `{}`, sdk.Deny, RuleUnpinned},
		{"a side effect without a grant", tool("send", true, sdk.Annotations{OpenWorld: true}), false, `{}`, sdk.Deny, RuleUnknown},
		{"another grant", tool("x", true, sdk.Annotations{}, sdk.GrantModels, sdk.GrantEntries), false, `{}`, sdk.Deny, RuleUnknown},
		{"both grants: paths are judged", tool("x", true, sdk.Annotations{}, sdk.GrantSandbox, sdk.GrantProject), false, `{"path":"/x"}`, sdk.Deny, RuleOutside},
		{"arguments that are no object", writeFile, false, `[]`, sdk.Deny, RuleBadArguments},
		{"no arguments", writeFile, false, ``, sdk.Allow, RuleProject},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := New(Settings{}).Decide(sdk.PolicyRequest{Tool: c.tool, ReadOnly: c.readOnly, Arguments: json.RawMessage(c.arguments), Project: "/p"})
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
		if New(Settings{}).Decide(sdk.PolicyRequest{Tool: writeFile, Arguments: arguments}).Verdict != sdk.Allow {
			return
		}
		joined := path.Join("/project", p)
		if !strings.HasPrefix(joined, "/project/") {
			t.Fatalf("%q leaves the project: %s", p, joined)
		}
		rel := strings.ToLower(strings.TrimPrefix(joined, "/project/"))
		for _, name := range protect.Paths() {
			if rel == name || strings.HasPrefix(rel, name+"/") || strings.HasPrefix(name, rel+"/") {
				t.Fatalf("%q touches %s", p, name)
			}
		}
		for _, name := range protect.GitNames() {
			if strings.Contains("/"+rel+"/", "/.git/"+name+"/") || path.Base(rel) == ".git" {
				t.Fatalf("%q touches %s of a repository", p, name)
			}
		}
		if path.IsAbs(p) || strings.HasPrefix(p, "~") {
			t.Fatalf("%q was allowed", p)
		}
	})
}
