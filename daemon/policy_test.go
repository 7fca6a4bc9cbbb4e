package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/policy"
	"github.com/bothyd/bothy/sdk"
)

// living is what the built-in configuration with a user's blocks says of
// projects, what is said about their files, and the root of a project.
func living(t *testing.T, blocks string) (written, *[]string, string) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	file := filepath.Join(t.TempDir(), "config.hcl")
	write(t, file, blocks)
	_, cfg, diags := LoadConfig(file, &audit.Redactor{})
	if cfg == nil {
		t.Fatal(diags.Error())
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, ".bothy"), 0o700); err != nil {
		t.Fatal(err)
	}
	var said []string
	say := func(_ string, diags config.Diagnostics) { said = append(said, diags.Error()) }
	return written{func() *config.Config { return cfg }, say}, &said, root
}

func writeOf(root string) sdk.PolicyRequest {
	tool := sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "write_file"}, Plugin: "files", Pinned: true, Grants: []string{sdk.GrantProject}}
	return sdk.PolicyRequest{Tool: tool, Arguments: []byte(`{"path":"a"}`), Project: root}
}

// TestWorkspaceHolds: what the file of a project denies counts from the moment it
// is saved to the moment it is gone.
func TestWorkspaceHolds(t *testing.T) {
	p, said, root := living(t, "")
	file := filepath.Join(root, ".bothy", "config.hcl")
	want := func(when string, verdict sdk.Verdict, source string) {
		t.Helper()
		for range 2 { // read, and as it is known then
			if d := policy.New(p.policy(root)).Decide(writeOf(root)); d.Verdict != verdict || d.Source != source {
				t.Errorf("%s: %+v", when, d)
			}
		}
	}
	want("without a file", sdk.Allow, policy.SourceBuiltIn)
	write(t, file, "workspace {\n  deny = [\"write_*\"]\n}\n")
	want("denied", sdk.Deny, "workspace "+file+":2")
	write(t, file, "rule \"ask\" {\n  decision = \"propose\"\n  paths = [\"a\"]\n}\n#\n")
	want("proposed, with nobody there", sdk.Deny, "workspace "+file+":1")
	write(t, file, "rule \"free\" {\n  decision = \"allow\"\n  tools = [\"write_file\"]\n}\n")
	want("allowed", sdk.Allow, policy.SourceBuiltIn)
	if last := (*said)[len(*said)-1]; !strings.Contains(last, "Not for a workspace to say") {
		t.Errorf("it was said: %s", last)
	}
	write(t, file, "workspace {\n")
	want("broken", sdk.Deny, "workspace "+file+":1")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	want("gone", sdk.Allow, policy.SourceBuiltIn)
	if last := (*said)[len(*said)-1]; last != "" {
		t.Errorf("it is still said: %s", last)
	}
	if err := os.Symlink("nowhere", file); err != nil {
		t.Fatal(err)
	}
	want("a link to nothing", sdk.Deny, "workspace "+file+":1")
}

// TestNarrowing: limits of an untrusted project hold, its choices do not.
func TestNarrowing(t *testing.T) {
	const file = "workspace {\n  agent = \"chat\"\n  model = \"openai/x\"\n}\nguard {\n  max_turns = 7\n}\nsandbox {\n  shell = \"argv\"\n}\n"
	guards := sdk.Guards{MaxTurns: 99, RepeatedCalls: 2, ConsecutiveErrors: 3}
	for name, c := range map[string]struct{ blocks, agent, model string }{
		"nobody trusts it":  {"", "", ""},
		"the user's choice": {"agent \"mine\" {\n}\nworkspace {\n  agent = \"mine\"\n  model = \"groq/y\"\n}\n", "mine", "groq/y"},
		"it is trusted":     {"workspace {\n  trust = [\"/**\"]\n}\n", "chat", "openai/x"},
	} {
		p, _, root := living(t, c.blocks)
		write(t, config.WorkspaceFile(root), file)
		n := p.narrowing(root)
		if n.Agent != c.agent || n.Model != c.model || n.Guards(guards).MaxTurns != 7 || p.policy(root).Shell != "argv" {
			t.Errorf("%s: %q, %q, shell %q", name, n.Agent, n.Model, p.policy(root).Shell)
		}
		if elsewhere := p.narrowing(t.TempDir()); elsewhere.Guards(guards) != guards {
			t.Errorf("%s: another project is narrowed", name)
		}
	}
}

// TestJudge: a command is judged where it would run, by rules of the user and of
// the project.
func TestJudge(t *testing.T) {
	p, _, root := living(t, "rule \"tests\" {\n  decision = \"allow\"\n  commands = [\"go test\"]\n}\n")
	write(t, config.WorkspaceFile(root), "rule \"no\" {\n  decision = \"deny\"\n  commands = [\"git push\"]\n}\n")
	below := filepath.Join(root, "src")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"ls -la": "allow shell.proven", "go test ./...": "allow tests", "go test && git push": "deny no", "make": "deny shell.program",
		"ls\xff": "deny shell.bytes", "ls \x00": "deny shell.bytes", "rm -rf /": "deny shell.deny",
	} {
		d, _, err := Judge(p.current(), below, policy.Trial{Text: command, Mode: sdk.ModeRestricted}, "")
		if got := string(d.Verdict) + " " + d.Rule; err != nil || got != want {
			t.Errorf("%q: %s (%s), %v", command, got, d.Reason, err)
		}
	}
	if d, _, _ := Judge(p.current(), below, policy.Trial{Text: "ls | wc", Mode: sdk.ModeRestricted}, "argv"); d.Rule != "shell.argv" {
		t.Errorf("the strict form: %+v", d)
	}
}
