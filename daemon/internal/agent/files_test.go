package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/agent/markdown"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// filesOf follows a folder of the user's agents, which is made.
func filesOf(t testing.TB, current func() *config.Config) (files *markdown.Library, folder string) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	folder = filepath.Join(home, ".config", "bothy", "agents")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	files = markdown.NewLibrary(current, markdown.Options{Log: hclog.NewNullLogger(), Trusted: func(string) map[string]string { return nil }})
	t.Cleanup(func() { _ = files.Close() })
	return files, folder
}

// TestPublicFilesOnlyNarrow: whatever a public file asks for, it gives no tool, server, skill, mode, guard or agent
// to delegate to that the agent default has not.
func TestPublicFilesOnlyNarrow(t *testing.T) {
	public, err := filepath.Glob("markdown/testdata/public/*.md")
	if err != nil || len(public) < 40 {
		t.Fatalf("%d files: %v", len(public), err)
	}
	for name, text := range map[string]string{
		"as it comes": "agent \"default\" {}\n",
		"narrow": "agent \"reader\" {}\nagent \"default\" {\n  tools = [\"read_*\", \"grep\"]\n  mcp = [\"linear\"]\n  mode = \"interactive\"\n  max_turns = 5\n" +
			"  agents = [\"reader\"]\n  skills = [\"release-notes\"]\n}\nmcp \"linear\" {\n  url = \"https://mcp.example.com\"\n}\n",
	} {
		current := configuration(t, text)
		files, folder := filesOf(t, current)
		for _, path := range public {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, filepath.Base(path)), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := files.Check(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		l := NewLibrary(current, Sources{Files: files.Definitions})
		usual, _ := l.Find("", Default)
		seen := 0
		for _, d := range l.List("") {
			if d.Source == sdk.AgentOfUser {
				seen++
				narrower(t, name+": "+filepath.Base(d.Place), d.Agent, usual.Agent)
			}
		}
		if seen < 30 {
			t.Errorf("%s: %d agents of files", name, seen)
		}
	}
}

// narrower holds that an agent has nothing that another has not.
func narrower(t *testing.T, what string, a, usual sdk.Agent) {
	t.Helper()
	names := []string{"bash", "read_file", "list_files", "find_files", "grep", "diff_files", "write_file", "edit_file", "delete_path", "use_skill", "update", "lookup_indicator", "!none"}
	for _, name := range names {
		for _, named := range []bool{false, true} {
			tool := sdk.Tool{ToolSpec: sdk.ToolSpec{Name: name}, Plugin: "files", Named: named}
			if a.Admits(tool) && !usual.Admits(tool) {
				t.Errorf("%s has %s", what, name)
			}
		}
	}
	for _, server := range []string{"github", "linear", "playwright"} {
		tool := sdk.Tool{ToolSpec: sdk.ToolSpec{Name: sdk.MCPPrefix + server + "__list_issues"}, Plugin: sdk.MCPPrefix + server}
		if a.UsesMCP(server) && !usual.UsesMCP(server) || a.Admits(tool) && !usual.Admits(tool) {
			t.Errorf("%s has the server %s", what, server)
		}
	}
	if a.Mode.AsksLess(usual.Mode) || a.Otherwise().AsksLess(usual.Otherwise()) {
		t.Errorf("%s has the modes %s and %s", what, a.Mode, a.Otherwise())
	}
	for _, other := range a.Agents {
		if !slices.Contains(usual.Agents, other) {
			t.Errorf("%s may delegate to %s", what, other)
		}
	}
	if usual.Skills != nil && (a.Skills == nil || slices.ContainsFunc(a.Skills, func(s string) bool { return !slices.Contains(usual.Skills, s) })) {
		t.Errorf("%s has the skills %v", what, a.Skills)
	}
	if usual.Guards.MaxTurns > 0 && (a.Guards.MaxTurns == 0 || a.Guards.MaxTurns > usual.Guards.MaxTurns) {
		t.Errorf("%s may take %d turns", what, a.Guards.MaxTurns)
	}
}

// BenchmarkListFiles lists a thousand agents that lie in files, and finds one.
func BenchmarkListFiles(b *testing.B) {
	current := configuration(b, "")
	files, folder := filesOf(b, current)
	for i := range 1000 {
		text := fmt.Sprintf("---\nname: agent-%d\ndescription: Does one thing.\ntools: Read, Grep, Bash\nmodel: sonnet\n---\n%s", i, strings.Repeat("You do one thing and do it well.\n", 30))
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("agent-%d.md", i)), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	l := NewLibrary(current, Sources{Files: files.Definitions})
	if err := files.Check(b.Context(), ""); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, found := l.Find("", "agent-777"); len(l.List("")) < 1000 || !found {
			b.Fatal("some are missing")
		}
	}
}
