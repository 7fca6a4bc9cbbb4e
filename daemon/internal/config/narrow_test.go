package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// TestAWorkspaceNeverWidens: whatever the file of a project says, each guard is at most the
// user's, no rule allows, nothing is freed, and the choice of an agent asks no less.
func TestAWorkspaceNeverWidens(t *testing.T) {
	cfg, _ := load(t, `
guard {
  max_turns    = 20
  deadline     = "1h"
  max_cost     = 2.5
  window_calls = 3
  window_size  = 9
}
policy {
  allow_dangerous = true
}
workspace {
  trust = ["/**"]
}
agent "free" {
  mode = "full"
}
agent "careful" {
  mode = "restricted"
}
protect {
  free = [".vscode"]
}
`)
	if cfg == nil {
		t.Fatal("no configuration")
	}
	path := filepath.Join(t.TempDir(), ".bothy", "config.hcl")
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		pick := func(name string, from ...string) string { return rapid.SampledFrom(from).Draw(t, name) }
		for _, f := range guardFields {
			if rapid.Bool().Draw(t, f.Name) {
				fmt.Fprintf(&b, "  %s = %s\n", attributeName(f), pick("value", "0", "1", "2", "19", "20", "21", "1000", "2.5", "2.6", "-1", `"0s"`, `"59m"`, `"2h"`, "null", "env(\"X\")"))
			}
		}
		text := "guard {\n" + b.String() + "}\n"
		text += fmt.Sprintf("rule \"r\" {\n  decision = %q\n  tools = [%q]\n}\n", pick("decision", "allow", "propose", "deny", "none"), pick("tool", "*", "bash", "a b"))
		text += fmt.Sprintf("workspace {\n  agent = %q\n  %s\n}\n", pick("agent", "free", "careful", "chat", "nobody"), pick("more", "", "deny = [\"bash\"]", "trust = [\"/**\"]", "allow = [\"x\"]"))
		text += fmt.Sprintf("protect {\n  %s = [%q]\n}\n", pick("list", "refuse", "ask", "free"), pick("pattern", "db", "*.tf", "/abs", "../up"))
		text += pick("block", "", "policy {\n  mode = \"full\"\n}\n", "plugin \"x\" {\n  path = \"/x\"\n}\n", "agent \"default\" {\n  mode = \"full\"\n}\n", "sandbox {\n  shell = \"bash\"\n}\n", "sandbox {\n  shell = \"argv\"\n  memory = \"900GB\"\n}\n")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		w, diags := ReadWorkspace(path, cfg)
		narrowed := w.Restrict(cfg.Guards)
		for _, f := range guardFields {
			own, now := number(reflect.ValueOf(cfg.Guards).FieldByIndex(f.Index)), number(reflect.ValueOf(narrowed).FieldByIndex(f.Index))
			if own > 0 && (now <= 0 || now > own) || now < 0 {
				t.Fatalf("%s went from %v to %v by\n%s", f.Name, own, now, text)
			}
			if named := number(reflect.ValueOf(w.Guards).FieldByIndex(f.Index)); own > 0 && named > own {
				t.Fatalf("%s may be %v where the user has %v by\n%s", f.Name, named, own, text)
			}
		}
		if slices.ContainsFunc(w.Rules, func(r sdk.PolicyRule) bool {
			return r.Verdict != sdk.Deny && r.Verdict != sdk.Propose || !strings.HasPrefix(r.Source, "workspace ")
		}) {
			t.Fatalf("rules %+v of\n%s", w.Rules, text)
		}
		if len(w.Protect.Free) > 0 || len(w.Trust) > 0 || w.Agent == "free" || w.Shell != "" && w.Shell != "argv" {
			t.Fatalf("%+v of\n%s", w, text)
		}
		denied := slices.ContainsFunc(w.Rules, func(r sdk.PolicyRule) bool { return r.Verdict == sdk.Deny && slices.Contains(r.Tools, "bash") })
		if strings.Contains(text, "deny = [\"bash\"]") && !denied && w.Broken == "" {
			t.Fatalf("what is denied is lost, and nobody is told:\n%s%v", text, diags)
		}
		for _, d := range diags {
			if d.File != path || d.Line < 1 {
				t.Fatalf("%v stands nowhere in\n%s", d, text)
			}
		}
	})
}

// TestWorkspaceFollowsTheFile: a file that comes, changes, breaks, is mended and goes is seen at
// the next question, and so are its mistakes.
func TestWorkspaceFollowsTheFile(t *testing.T) {
	cfg, _ := load(t, "")
	project := t.TempDir()
	file := WorkspaceFile(project)
	remove := func() error { return os.RemoveAll(filepath.Dir(file)) }
	text := func(text string) func() error {
		return func() error { writeFile(t, file, text); return nil }
	}
	for _, step := range []struct {
		name     string
		do       func() error
		turns    int
		broken   bool
		mistakes int
	}{
		{"no file", func() error { return nil }, 0, false, 0},
		{"it comes", text("guard {\n  max_turns = 3\n}\n"), 3, false, 0},
		{"it is as it was", func() error { return nil }, 3, false, 0},
		{"it changes", text("guard {\n  max_turns = 45\n}\n"), 45, false, 0},
		{"it is half", text("guard {\n"), 0, true, 1},
		{"it asks for more", text("guard {\n  max_turns = 4000\n}\n"), 0, false, 1},
		{"it is mended", text("guard {\n  max_turns = 5\n}\n"), 5, false, 0},
		{"a folder", func() error {
			if err := os.Remove(file); err != nil {
				return err
			}
			return os.Mkdir(file, 0o700)
		}, 0, true, 1},
		{"a link to nothing", func() error {
			if err := os.Remove(file); err != nil {
				return err
			}
			return os.Symlink("none", file)
		}, 0, true, 1},
		{"it goes", remove, 0, false, 0},
		{"a file in the place of its folder", func() error { return os.WriteFile(filepath.Dir(file), nil, 0o600) }, 0, false, 0},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			w, diags := WorkspaceOf(project, cfg)
			if w.Guards.MaxTurns != step.turns || (w.Broken != "") != step.broken || step.broken != strings.HasPrefix(w.BrokenAt, file+":") || len(diags) != step.mistakes {
				t.Errorf("%s: %d turns, broken %q at %q, %v", step.name, w.Guards.MaxTurns, w.Broken, w.BrokenAt, diags)
			}
		}
	}
	if err := os.Remove(filepath.Dir(file)); err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, "guard {\n  max_turns = 98\n}\n")
	if w, _ := WorkspaceOf(project, cfg); w.Guards.MaxTurns != 98 {
		t.Errorf("%+v", w)
	}
	less, _ := load(t, "guard {\n  max_turns = 9\n}\n")
	if w, _ := WorkspaceOf(project, less); w.Guards.MaxTurns != 0 {
		t.Errorf("with other limits of the user it is %d turns still", w.Guards.MaxTurns)
	}
	if w, _ := WorkspaceOf("", cfg); !reflect.DeepEqual(w, Workspace{}) {
		t.Errorf("without a project: %+v", w)
	}
}

// TestTrust: which projects may choose, by the user's patterns.
func TestTrust(t *testing.T) {
	t.Setenv("HOME", "/home/someone")
	cfg, diags := load(t, "workspace {\n  trust = [\"~/src/**\", \"/srv/shop\", \"here\"]\n}\n")
	if cfg == nil {
		t.Fatal(diags)
	}
	here := cfg.Workspace.Trust[2]
	for root, want := range map[string]bool{
		"/home/someone/src/a": true, "/home/someone/src/a/b": true, "/home/someone": false, "/home/someone/other": false, "/home/else/src/a": false,
		"/srv/shop": true, "/srv/shop/sub": false, "/srv/shopping": false, here: true, filepath.Dir(here): false, "/": false, "": false,
	} {
		if got := cfg.Workspace.Trusts(root); got != want {
			t.Errorf("%q: %v", root, got)
		}
	}
	if (Workspace{}).Trusts("/home/someone/src/a") {
		t.Error("who trusts nobody trusts")
	}
}
