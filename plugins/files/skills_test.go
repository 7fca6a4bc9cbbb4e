package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// skillsRun is a run that has loaded a skill, and one thing beside it.
func skillsRun(t *testing.T) (project, runDir string) {
	t.Helper()
	project, runDir = t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		"skills/pdf/SKILL.md":          "# PDF\nuse the script\n",
		"skills/pdf/scripts/run.sh":    "echo hi\n",
		"skills/pdf/references/api.md": "the api\n",
		"home/secret":                  "of the run\n",
	} {
		path = filepath.Join(runDir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"out": "../../home/secret", "abs": "/etc/passwd", "up": ".."} {
		if err := os.Symlink(to, filepath.Join(runDir, "skills/pdf", link)); err != nil {
			t.Fatal(err)
		}
	}
	return project, runDir
}

// TestSkillsAreRead: the tools that look take the path that commands know a
// skill by, and show it so; nothing else of the run is reached.
func TestSkillsAreRead(t *testing.T) {
	project, runDir := skillsRun(t)
	client := served(t)
	for name, c := range map[string]struct {
		tool, arguments string
		want            string // in the output; "" is a refusal
		outcome         sdk.Outcome
	}{
		"read":                {"read_file", `{"path":"/skills/pdf/SKILL.md"}`, "use the script", ""},
		"read, with signs":    {"read_file", `{"path":"/skills//pdf/./scripts/../SKILL.md"}`, "use the script", ""},
		"list all":            {"list_files", `{"path":"/skills"}`, "/skills/pdf/", ""},
		"list one":            {"list_files", `{"path":"/skills/pdf/","recursive":true}`, "/skills/pdf/scripts/run.sh", ""},
		"find":                {"find_files", `{"path":"/skills/pdf","pattern":"**/*.md"}`, "/skills/pdf/references/api.md", ""},
		"grep":                {"grep", `{"path":"/skills","pattern":"the api"}`, "/skills/pdf/references/api.md:1:the api", ""},
		"grep in one file":    {"grep", `{"path":"/skills/pdf/SKILL.md","pattern":"script"}`, "/skills/pdf/SKILL.md:2:", ""},
		"what is not there":   {"read_file", `{"path":"/skills/pdf/none"}`, "", sdk.NotFound},
		"another skill":       {"read_file", `{"path":"/skills/other/SKILL.md"}`, "", sdk.NotFound},
		"out by dots":         {"read_file", `{"path":"/skills/../home/secret"}`, "", sdk.Permission},
		"out by a link":       {"read_file", `{"path":"/skills/pdf/out"}`, "", sdk.Permission},
		"out by a link above": {"read_file", `{"path":"/skills/pdf/up/../home/secret"}`, "", sdk.NotFound},
		"by an absolute link": {"read_file", `{"path":"/skills/pdf/abs"}`, "", sdk.Permission},
		"a name that begins":  {"read_file", `{"path":"/skillset/x"}`, "", sdk.Permission},
		"write":               {"write_file", `{"path":"/skills/pdf/SKILL.md","content":"x"}`, "", sdk.Permission},
		"edit":                {"edit_file", `{"path":"/skills/pdf/SKILL.md","old_text":"use","new_text":"x"}`, "", sdk.Permission},
		"delete":              {"delete_path", `{"path":"/skills/pdf","recursive":true}`, "", sdk.Permission},
		"move":                {"move_path", `{"source":"/skills/pdf","destination":"x"}`, "", sdk.Permission},
		"copy":                {"copy_path", `{"source":"/skills/pdf","destination":"x"}`, "", sdk.Permission},
		"make a folder":       {"create_directory", `{"path":"/skills/pdf/new"}`, "", sdk.Permission},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := client.Invoke(t.Context(), sdk.Invocation{Tool: c.tool, Arguments: json.RawMessage(c.arguments), CallID: name, Project: project, RunDir: runDir}, nowhere{t})
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case c.outcome != "" && (r.Success || r.Outcome != c.outcome):
				t.Errorf("outcome %q, want %q: %s %s", r.Outcome, c.outcome, r.Error, r.Output)
			case c.outcome == "" && (!r.Success || !strings.Contains(r.Output, c.want)):
				t.Errorf("got %q (%s), want %q in it", r.Output, r.Error, c.want)
			case strings.Contains(r.Output, "of the run"):
				t.Errorf("the run's own file was shown: %s", r.Output)
			}
			if c.outcome == sdk.Permission && strings.HasPrefix(c.tool, "write") && !strings.Contains(r.Error, "only be read") {
				t.Errorf("the reason is not said: %s", r.Error)
			}
		})
	}
	if text, err := os.ReadFile(filepath.Join(runDir, "skills/pdf/SKILL.md")); err != nil || string(text) != "# PDF\nuse the script\n" {
		t.Errorf("the skill is %q now: %v", text, err)
	}
}

// TestSkillsOfARunWithoutAny says what to do.
func TestSkillsOfARunWithoutAny(t *testing.T) {
	r, err := served(t).Invoke(t.Context(), sdk.Invocation{
		Tool: "read_file", Arguments: json.RawMessage(`{"path":"/skills/pdf/SKILL.md"}`), CallID: "1", Project: t.TempDir(), RunDir: t.TempDir(),
	}, nowhere{t})
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome != sdk.NotFound || !strings.Contains(r.Error, "use_skill") {
		t.Errorf("%q: %s", r.Outcome, r.Error)
	}
}
