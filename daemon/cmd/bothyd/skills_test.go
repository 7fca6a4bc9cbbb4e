package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy"
	"github.com/bothyd/bothy/daemon/internal/skill"
)

// TestBundledSkills holds the skills that come with Bothy to what validate asks
// of others, without a warning, and to the tools that there are.
func TestBundledSkills(t *testing.T) {
	code, out, errs := call(t, "skills", "validate", "--json", filepath.Join("..", "..", "..", "skills"))
	var answer struct{ Skills []skill.Verdict }
	if err := json.Unmarshal([]byte(out), &answer); err != nil || code != exitOK {
		t.Fatalf("exit %d, %v\n%s%s", code, err, out, errs)
	}
	var names []string
	for _, v := range answer.Skills {
		names = append(names, v.Name)
		if !v.Loaded || v.Repaired || len(v.Diagnostics) > 0 {
			t.Errorf("%+v", v)
		}
	}
	if got := strings.Join(names, " "); got != "explain research review-change summarize write-agent write-plugin write-skill" {
		t.Errorf("bundled are %s", got)
	}
	for _, name := range names {
		text, err := bothy.Skills.ReadFile("skills/" + name + "/SKILL.md")
		if err != nil {
			t.Fatal(err)
		}
		d := skill.Parse(text, name)
		if want := map[string]string{"research": "research"}[name]; d.Plugin != want {
			t.Errorf("%s is executed by the plugin %q, want %q", name, d.Plugin, want)
		}
	}
}

func TestSkillsValidate(t *testing.T) {
	t.Chdir(t.TempDir())
	for path, text := range map[string]string{
		"fine/good/SKILL.md": "---\nname: good\ndescription: d\n---\nx\n",
		"fine/odd/skill.md":  "---\nname: odd\ndescription: a: b\n---\nx\n",
		"bad/SKILL.md":       "# none\n",
		"e\x1b[31m/SKILL.md": "---\nname: e\n---\nx\n",
		"empty/README.md":    "",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  string
		args  []string
		code  int
		parts []string
	}{
		{"warnings only", []string{"fine"}, exitOK, []string{"fine/odd/skill.md:3:14: warning: ", "[repaired]\n      Put the value in quotes.", "skills: 2, loaded: 2 (repaired: 1), with errors: 0"}},
		{"an error", []string{"fine", "bad"}, exitFailed, []string{"bad/SKILL.md:1:1: error: there is no frontmatter", "with errors: 1"}},
		{"a file", []string{"bad/SKILL.md"}, exitFailed, []string{"bad/SKILL.md:1:1: error"}},
		{"the working directory", nil, exitFailed, []string{"skills: 4, loaded: 2", `e\u001b[31m/SKILL.md`}},
		{"nothing there", []string{"empty"}, exitOK, []string{"there is no SKILL.md"}},
		{"nothing there as JSON", []string{"--json", "empty"}, exitOK, []string{`"skills": []`}},
		{"as JSON", []string{"--json", "bad"}, exitFailed, []string{`"loaded": false`, `"repaired": false`, `"line": 1`, `"help": "`}},
		{"no such path", []string{"nowhere"}, exitUsage, []string{"nowhere"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errs := call(t, append([]string{"skills", "validate"}, c.args...)...)
			if code != c.code {
				t.Errorf("exit %d, want %d", code, c.code)
			}
			for _, part := range c.parts {
				if !strings.Contains(out+errs, part) {
					t.Errorf("%q is not in\n%s%s", part, out, errs)
				}
			}
			if strings.Contains(out, "\x1b") {
				t.Error("a name steers the terminal")
			}
		})
	}
}
