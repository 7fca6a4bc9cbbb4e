package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestAgentsCheck: what is wrong with an agent is told with its line, and what would widen beside it.
func TestAgentsCheck(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	project := filepath.Join(home, "project")
	t.Chdir(home)
	for path, text := range map[string]string{
		".config/bothy/config.hcl":           "agent \"mine\" {}\nagent \"lost\" {\n  skills = [\"tidy\", \"write-agent\", \"nowhere\"]\n}\nagent \"default\" {\n  mode = \"restricted\"\n}\n",
		".config/bothy/agents/reviewer.md":   "---\nname: reviewer\ndescription: Reviews.\nmode: full\nmodel: nobody-has-it\n---\nYou review.\n",
		".config/bothy/agents/skilled.md":    "---\nname: skilled\ndescription: Works.\nskills: tidy, nowhere\n---\nYou work.\n",
		".config/bothy/skills/tidy/SKILL.md": "---\nname: tidy\ndescription: Tidies up.\n---\nTidy.\n",
		"project/.git/x":                     "",
		"project/.bothy/agents/brokenly.md":  "---\nname: [\n---\nx\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		args []string
		exit int
		says []string
	}{
		"all":           {[]string{"--project", project}, exitFailed, []string{"brokenly.md:2:", "error", "nobody-has-it", "that cannot be used: 2"}},
		"of everywhere": {nil, exitFailed, []string{"reviewer.md:5:", "that cannot be used: 1"}},
		"skills":        {[]string{"lost"}, exitFailed, []string{`config.hcl:3:1: error: there is no skill "nowhere" [skill-unknown]`, "agents: 1, that cannot be used: 1"}},
		"of a file":     {[]string{"skilled"}, exitOK, []string{`skilled.md:4:1: warning: there is no skill "nowhere" [skill-unknown]`, "agents: 1, that cannot be used: 0"}},
		"by its name":   {[]string{"reviewer"}, exitOK, []string{"reviewer.md:5:", "agents: 1,"}},
		"by its file":   {[]string{".config/bothy/agents/reviewer.md"}, exitOK, []string{"reviewer.md:5:", "agents: 1,"}},
		"a folder":      {[]string{"project/.bothy/agents"}, exitFailed, []string{"brokenly.md:2:"}},
		"a block":       {[]string{"mine"}, exitOK, []string{"agents: 1, that cannot be used: 0"}},
		"nobody":        {[]string{"nobody"}, exitUsage, []string{`there is no agent "nobody"`}},
		"no file":       {[]string{"none.md"}, exitUsage, []string{"none.md"}},
	} {
		code, out, errs := call(t, append([]string{"agents", "check"}, c.args...)...)
		for _, says := range c.says {
			if code != c.exit || !strings.Contains(out+errs, says) {
				t.Errorf("%s: exit %d, want %d and %q:\n%s%s", name, code, c.exit, says, out, errs)
			}
		}
	}
	if _, out, _ := call(t, "agents", "check", "lost", "skilled"); strings.Contains(out, "tidy") || strings.Contains(out, "write-agent") {
		t.Errorf("a skill that there is is missed:\n%s", out)
	}
	code, out, errs := call(t, "agents", "check", "--json", "mine")
	var answer struct{ Agents []checkedAgent }
	if err := json.Unmarshal([]byte(out), &answer); err != nil || code != exitOK || len(answer.Agents) != 1 || answer.Agents[0].Source != sdk.AgentOfConfig || answer.Agents[0].Problems == nil {
		t.Errorf("exit %d, %v: %s%s", code, err, out, errs)
	}
}
