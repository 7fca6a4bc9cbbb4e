package policy

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

const readFrom = "what web_fetch brought from https://docs.example/page"

// TestForeign: a run that has read what came from outside asks before it writes what agents obey, in every mode but full
// and whatever allows it; what is refused stays that, and what nobody obeys is as free as ever.
func TestForeign(t *testing.T) {
	allow := []sdk.PolicyRule{{Name: "all", Source: "c:1", Verdict: sdk.Allow, Tools: []string{"*"}}}
	free := sdk.Protection{Free: []string{".bothy", ".claude", "AGENTS.md", "*"}}
	asked := map[string]sdk.Decision{}
	for _, mode := range sdk.ModeNames() {
		want := sdk.Decision{Verdict: sdk.Propose, Rule: RuleForeign}
		if mode == string(sdk.ModeFull) {
			want = sdk.Decision{Verdict: sdk.Allow}
		}
		asked[mode] = want
	}
	for _, c := range []struct {
		path    string
		obeyed  bool
		refused bool
		protect sdk.Protection
	}{
		{path: "AGENTS.md", obeyed: true}, {path: "a/b/AGENTS.md", obeyed: true}, {path: "agents.MD", obeyed: true}, {path: "CLAUDE.md", obeyed: true},
		{path: "./docs/../CLAUDE.md", obeyed: true}, {path: "GEMINI.md", obeyed: true}, {path: ".cursorrules", obeyed: true}, {path: ".github/copilot-instructions.md", obeyed: true},
		{path: ".github/agents/a.md", obeyed: true}, {path: "skills/tidy/SKILL.md", obeyed: true}, {path: "tools/bothy-plugin.hcl", obeyed: true},
		{path: ".mcp.json", obeyed: true}, {path: ".vscode/mcp.json", obeyed: true}, {path: ".github/workflows/ci.yml", obeyed: true},
		{path: "AGENTS.md", obeyed: true, protect: free}, {path: ".bothy/config.hcl", obeyed: true, protect: free}, {path: ".bothy/skills/tidy/run.sh", obeyed: true, protect: free},
		{path: ".bothy/agents/a.md", obeyed: true, protect: free}, {path: ".claude/agents/a.md", obeyed: true, protect: free},
		{path: ".bothy/config.hcl", refused: true}, {path: ".claude/skills/tidy/SKILL.md", refused: true}, {path: ".agents/a.md", refused: true},
		{path: "main.go"}, {path: "docs/AGENTS.md.txt"}, {path: "AGENTS"}, {path: "bothy/x"},
	} {
		for mode, want := range asked {
			for _, rules := range [][]sdk.PolicyRule{nil, allow} {
				r := callOf(writeFile, map[string]any{"path": c.path, "content": "x"})
				r.Mode, r.Attended, r.Foreign = sdk.Mode(mode), true, readFrom
				d := New(Settings{Rules: rules, Protect: c.protect, View: true}).Decide(r)
				switch {
				case c.refused && d.Verdict != sdk.Deny, !c.refused && !c.obeyed && d.Rule == RuleForeign:
					t.Errorf("%s in %s: %s by %s", c.path, mode, d.Verdict, d.Rule)
				case c.obeyed && (d.Verdict != want.Verdict || want.Rule != "" && (d.Rule != want.Rule || !strings.Contains(d.Reason, readFrom))):
					t.Errorf("%s in %s with %d rules: %s by %s: %s", c.path, mode, len(rules), d.Verdict, d.Rule, d.Reason)
				}
				if r.Attended = false; c.obeyed && mode != string(sdk.ModeFull) && mode != string(sdk.ModeInteractive) {
					if d := New(Settings{Rules: rules, Protect: c.protect, View: true}).Decide(r); d.Verdict != sdk.Deny || d.Rule != RuleForeign {
						t.Errorf("%s in %s where nobody is: %s by %s", c.path, mode, d.Verdict, d.Rule)
					}
				}
				if r.Foreign = ""; New(Settings{Rules: rules, Protect: c.protect, View: true}).Decide(r).Rule == RuleForeign {
					t.Errorf("%s in %s is asked about in a run that has read nothing", c.path, mode)
				}
			}
		}
	}
}

// TestForeignLinks: where a link leads counts, and among several paths the one that is obeyed.
func TestForeignLinks(t *testing.T) {
	r := callOf(writeFile, map[string]any{"path": "notes.md", "content": "x"})
	r.Mode, r.Attended, r.Foreign, r.Links = sdk.ModeWorkspace, true, readFrom, map[string]string{"notes.md": "AGENTS.md"}
	if d := New(Settings{View: true}).Decide(r); d.Verdict != sdk.Propose || d.Rule != RuleForeign {
		t.Errorf("by a link: %s by %s", d.Verdict, d.Rule)
	}
	move := callOf(tool("move_file", true, destructive, sdk.GrantProject), map[string]any{"from": "a.md", "to": "sub/CLAUDE.md"})
	move.Mode, move.Attended, move.Foreign = sdk.ModeWorkspace, true, readFrom
	if d := New(Settings{View: true}).Decide(move); d.Verdict != sdk.Propose || d.Rule != RuleForeign {
		t.Errorf("moved: %s by %s", d.Verdict, d.Rule)
	}
	read := callOf(readFile, map[string]any{"path": "AGENTS.md"})
	read.Mode, read.Attended, read.Foreign = sdk.ModeInteractive, true, readFrom
	if d := New(Settings{View: true}).Decide(read); d.Verdict != sdk.Allow {
		t.Errorf("read: %s by %s", d.Verdict, d.Rule)
	}
}

// TestForeignEntries: entries that other runs see are asked about as what agents obey is; those of the run are not.
func TestForeignEntries(t *testing.T) {
	set := sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "set"}, Plugin: sdk.OwnPlugin, Pinned: true, Entries: true}
	for _, mode := range sdk.ModeNames() {
		for _, outlives := range []bool{true, false} {
			r := callOf(set, map[string]any{"path": "lore://a", "body": "x"})
			r.Mode, r.Attended, r.Foreign, r.Outlives = sdk.Mode(mode), true, readFrom, outlives
			d := New(Settings{View: true}).Decide(r)
			if asks := outlives && mode != string(sdk.ModeFull); asks != (d.Rule == RuleForeign && d.Verdict == sdk.Propose) || !asks && d.Verdict != sdk.Allow {
				t.Errorf("outlives the run %t, in %s: %s by %s", outlives, mode, d.Verdict, d.Rule)
			}
			looks := callOf(set, map[string]any{"path": "lore://a", "visibility": "archived"})
			looks.Mode, looks.Attended, looks.Foreign, looks.Outlives = r.Mode, true, readFrom, outlives
			if d := New(Settings{View: true}).Decide(looks); d.Verdict != sdk.Allow {
				t.Errorf("what is in sight is asked about in %s: %s", mode, d.Rule)
			}
		}
	}
}

// TestForeignLines: a command line that writes what agents obey is no contained one.
func TestForeignLines(t *testing.T) {
	for line, asks := range map[string]bool{
		"echo hi > AGENTS.md": true, "touch CLAUDE.md": true, "mkdir sub && echo x >> sub/SKILL.md": true,
		"echo hi > notes.md": false, "cat AGENTS.md": false,
	} {
		r := lineOf(line)
		r.Mode, r.Attended, r.Foreign = sdk.ModeRestricted, true, readFrom
		d := New(Settings{}).Decide(r)
		if (d.Verdict == sdk.Propose) != asks {
			t.Errorf("%s: %s by %s: %s", line, d.Verdict, d.Rule, d.Reason)
		}
		r.Foreign = ""
		if d := New(Settings{}).Decide(r); d.Verdict != sdk.Allow {
			t.Errorf("%s in a run that has read nothing: %s by %s", line, d.Verdict, d.Rule)
		}
	}
}
