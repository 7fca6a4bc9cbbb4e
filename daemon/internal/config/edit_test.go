package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// TestEditBlock: what becomes of one block, in all the ways that people write it.
func TestEditBlock(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing yet":           {"", "skill \"s\" {\n  enabled = false\n}\n"},
		"only a mark":           {"\xef\xbb\xbf", "\xef\xbb\xbfskill \"s\" {\n  enabled = false\n}\n"},
		"no end of line":        {"# x", "# x\n\nskill \"s\" {\n  enabled = false\n}\n"},
		"CRLF":                  {"# x\r\n", "# x\r\n\r\nskill \"s\" {\r\n  enabled = false\r\n}\r\n"},
		"on":                    {"skill \"s\" {\n\tenabled   =\ttrue # why\n}\n", "skill \"s\" {\n\tenabled   =\tfalse # why\n}\n"},
		"off already":           {"skill \"s\" { enabled=false }", "skill \"s\" { enabled=false }"},
		"in one line":           {"skill s{enabled=true}", "skill s{enabled=false}"},
		"an expression":         {"skill \"s\" {\n  enabled = env(\"X\") == \"1\" ? (true) : !false\n}\n", "skill \"s\" {\n  enabled = false\n}\n"},
		"parentheses":           {"skill \"s\" {\n  enabled = (\n  true\n  )\n}\n", "skill \"s\" {\n  enabled = false\n}\n"},
		"null":                  {"skill \"s\" {\n  enabled = null\n}\n", "skill \"s\" {\n  enabled = false\n}\n"},
		"empty":                 {"skill \"s\" {}\n", "skill \"s\" {\n  enabled = false\n}\n"},
		"empty in two lines":    {"skill \"s\" {\n}\n", "skill \"s\" {\n  enabled = false\n}\n"},
		"another attribute":     {"skill \"s\" {\n  other = 1 // this\n}\n", "skill \"s\" {\n  other = 1 // this\n  enabled = false\n}\n"},
		"another in one line":   {"skill \"s\" { other = 1 }\n", "skill \"s\" {\n  other = 1 \n  enabled = false\n}\n"},
		"a comment in it":       {"skill \"s\" { # for now\n}\n", "skill \"s\" { # for now\n  enabled = false\n}\n"},
		"a comment in one line": {"skill \"s\" { /* a\nb */ }\n", "skill \"s\" { /* a\nb */ \n  enabled = false\n}\n"},
		"inside another":        {"x {\n  skill \"s\" {\n    enabled = true\n  }\n}\n", "x {\n  skill \"s\" {\n    enabled = true\n  }\n}\n\nskill \"s\" {\n  enabled = false\n}\n"},
		"another's":             {"skill \"z\" {\n  enabled = true\n}\n", "skill \"z\" {\n  enabled = true\n}\n\nskill \"s\" {\n  enabled = false\n}\n"},
		"a text that looks so":  {"x = \"skill \\\"s\\\" {}\"\n", "x = \"skill \\\"s\\\" {}\"\n\nskill \"s\" {\n  enabled = false\n}\n"},
	} {
		got, err := setSkill([]byte(c.text), "config.hcl", "s", false)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%q\nwant\n%q", name, err, got, c.want)
		}
	}
}

// TestUnsetSkill: what was switched off and on leaves nothing, and nothing of a person's goes.
func TestUnsetSkill(t *testing.T) {
	for _, text := range append(fragments, "", "# x", "\xef\xbb\xbf", "# x\r\n") {
		with, err := setSkill([]byte(text), "config.hcl", "s", false)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := unsetSkill(with, "config.hcl", "s"); err != nil || strings.TrimSpace(string(got)) != strings.TrimSpace(text) {
			t.Errorf("%q is %q, %v", text, got, err)
		}
	}
	for _, kept := range []string{"skill \"s\" {\n  # why\n  enabled = false\n}\n", "skill \"s\" {\n  enabled = false\n  other = 1\n}\n", "skill \"z\" {\n  enabled = false\n}\n", "skill \"s\" { enabled = true } # for now\n", "skill \"s\" {\n  enabled = true\n} # for now\n"} {
		if got, err := unsetSkill([]byte(kept), "config.hcl", "s"); err != nil || string(got) != kept {
			t.Errorf("%q is %q, %v", kept, got, err)
		}
	}
}

// fragments are parts of a file that an edit has to leave alone.
var fragments = []string{
	"# a comment\n", "// another", "/* and\n   another */\n", "\n\n", "\t \n", "sandbox {\n\ttimeout\t=  \"9s\"   \n}\n", "x {}\n", "unknown \"key\" \"more\" {\n  deep {\n a=1\n}\n}\n",
	"top = [1,\n\t2, # two\n]\n", "text = <<-EOT\n    skill \"s\" {\n    }\n  EOT\n", "model \"ü\" {\n  name = \"é ${\"}\"} $${x}\"\n}\n",
	"skill \"other\" {\n  enabled = true\n}\n", "agent \"a\" { tools=[\"*\"] }\n",
}

// waysOfBlock are the ways in which the block may stand there; %s is its label.
var waysOfBlock = []string{
	"", "skill %s {}\n", "skill %s {\n}\n", "skill   %s\t{ enabled = true }\n", "skill %s {\n\n\tenabled=false# no\n}\n",
	"skill %s { # c\n  other = \"x\"\n}\n", "skill %s { other = [1,\n2] }\n", "skill %s {\n  enabled = !true || x(\"}\")\n  /* c */ }\n", "skill %s { /* } */ }",
}

// TestEditLeavesTheRest: bytes outside the block are as they were, what was in
// it is still there, and the second time nothing changes.
func TestEditLeavesTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"s", "技能", "r\u00e9sum\u00e9", "a-b.c_9"}).Draw(t, "name")
		label := rapid.SampledFrom([]string{name, norm.NFD.String(name)}).Draw(t, "label")
		parts := rapid.Permutation(fragments).Draw(t, "parts")
		from := rapid.IntRange(0, len(parts)).Draw(t, "from")
		to := rapid.IntRange(from, len(parts)).Draw(t, "to")
		block := rapid.SampledFrom(waysOfBlock).Draw(t, "block")
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		shape := func(s string) string { return strings.ReplaceAll(s, "\n", eol) }
		join := func(parts []string) string {
			for i, p := range parts {
				if strings.HasPrefix(p, "//") {
					parts[i] += "\n"
				}
			}
			return shape(strings.Join(parts, ""))
		}
		mark := rapid.SampledFrom([]string{"", "\xef\xbb\xbf"}).Draw(t, "mark")
		before, after := mark+join(parts[:from]), join(parts[to:])
		if block != "" {
			block = shape(fmt.Sprintf(block, `"`+label+`"`))
		}
		if !strings.HasSuffix(block, "\n") && block != "" {
			after = eol + after
		}
		text := before + block + after
		if rapid.Bool().Draw(t, "cut") && block == "" {
			text = strings.TrimRight(text, "\r\n")
			if _, err := findBlock([]byte(text), "x", "skill", name); err != nil {
				return // the end of a heredoc needs its line's
			}
			before, after = text, ""
		}
		enabled := rapid.Bool().Draw(t, "enabled")
		got, err := setSkill([]byte(text), "config.hcl", name, enabled)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		b, err := findBlock(got, "config.hcl", "skill", name)
		if err != nil || b == nil || !attributesOf(SkillBlock{Enabled: &enabled})[0].stands(got, b) {
			t.Fatalf("it is not edited: %v\n%s", err, got)
		}
		if block != "" && (!bytes.HasPrefix(got, []byte(before)) || !bytes.HasSuffix(got, []byte(after))) {
			t.Fatalf("bytes around the block changed:\n%q\n%q", text, got)
		}
		if block == "" && !bytes.HasPrefix(got, []byte(text)) {
			t.Fatalf("bytes before the new block changed:\n%q\n%q", text, got)
		}
		if strings.Contains(block, "other") && b.Body.Attributes["other"] == nil {
			t.Fatalf("another attribute is gone:\n%s", got)
		}
		if eol == "\r\n" && bytes.Count(got, []byte("\n")) != bytes.Count(got, []byte("\r\n")) && strings.Contains(text, "\n") {
			t.Fatalf("an end of line is another:\n%q", got)
		}
		if again, err := setSkill(got, "config.hcl", name, enabled); err != nil || !bytes.Equal(again, got) {
			t.Fatalf("the second time it is another: %v\n%q\n%q", err, got, again)
		}
		there, err := setSkill(got, "config.hcl", name, !enabled)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := setSkill(there, "config.hcl", name, enabled); err != nil || !bytes.Equal(back, got) {
			t.Fatalf("there and back is another: %v\n%q\n%q", err, got, back)
		}
	})
}

func TestEditRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, name, says string }{
		"no HCL":        {"sandbox {\n", "s", "1:9"},
		"too deep":      {"x = " + strings.Repeat("(", 500), "s", "nested too deeply"},
		"given twice":   {"skill \"s\" {\n}\nskill \"s\" {\n}\n", "s", "3:1"},
		"no name":       {"", "", "is written as"},
		"what hides":    {"", "a\x00", "is written as"},
		"a heredoc":     {"skill \"s\" {\n  enabled = <<E\nE\n}\n", "s", ""},
		"too long":      {strings.Repeat("#\n", 600_000), "s", "1 MiB"},
		"full":          {strings.Repeat("#", MaxFile-10), "s", "no room"},
		"invalid UTF-8": {"x = \"\xff\"\n", "s", "1:6"},
	} {
		path := filepath.Join(t.TempDir(), "config.hcl")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		changed, err := SetSkill(path, c.name, false)
		if c.says == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if now, _ := os.ReadFile(path); changed || err == nil || !strings.Contains(err.Error(), c.says) || string(now) != c.text {
			t.Errorf("%s: %v; want an error that says %q", name, err, c.says)
		}
		if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
			t.Errorf("%s: it left %v", name, left)
		}
	}
}

// TestSetSkillMakesTheFile, with its folder, for nobody else to read.
func TestSetSkillMakesTheFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, "config.hcl")
	if changed, err := SetSkill(path, "s", true); err != nil || !changed {
		t.Fatal(changed, err)
	}
	for what, want := range map[string]os.FileMode{dir: 0o700, path: 0o600} {
		if info, err := os.Stat(what); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", what, info.Mode(), err)
		}
	}
	if changed, err := SetSkill(path, "s", true); err != nil || changed {
		t.Errorf("the second time: %v %v", changed, err)
	}
	if cfg := usable(t, path, read(t, path)); cfg.Skills.Switched("s") == nil {
		t.Error("the file does not say it")
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSetSkillFollowsLinks: the file is exchanged where it lies, with its mode,
// and the link stays one.
func TestSetSkillFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "dotfiles", "bothy.hcl"), filepath.Join(dir, "config.hcl")
	if err := os.Mkdir(filepath.Dir(real), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(real, []byte("# mine\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("dotfiles/bothy.hcl", link); err != nil {
		t.Fatal(err)
	}
	if changed, err := SetSkill(link, "s", false); err != nil || !changed {
		t.Fatal(changed, err)
	}
	if to, err := os.Readlink(link); err != nil || to != "dotfiles/bothy.hcl" {
		t.Errorf("the link is %q now (%v)", to, err)
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o640 || read(t, real) != "# mine\n\nskill \"s\" {\n  enabled = false\n}\n" {
		t.Errorf("%v %v %q", info.Mode(), err, read(t, real))
	}
	if err := os.Remove(real); err != nil {
		t.Fatal(err)
	}
	if _, err := SetSkill(link, "s", false); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("a link that leads nowhere: %v", err)
	}
}

func TestSetSkillRefusesTheFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := SetSkill(dir, "s", false); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("a folder: %v", err)
	}
	path := filepath.Join(dir, "config.hcl")
	if err := os.WriteFile(path, nil, 0o444); err != nil {
		t.Fatal(err)
	}
	if _, err := SetSkill(path, "s", false); sdk.OutcomeOf(err) != sdk.Permission {
		t.Errorf("one that may not be written: %v", err)
	}
}

// TestExchangeSeesAnEditor: what was saved between reading and writing is not
// lost.
func TestExchangeSeesAnEditor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.hcl")
	if err := os.WriteFile(path, []byte("# saved meanwhile\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := exchange(path, []byte("# what was read\n"), []byte("# edited\n"), 0o600); !errors.Is(err, errAnother) || read(t, path) != "# saved meanwhile\n" {
		t.Errorf("%v %q", err, read(t, path))
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := exchange(path, []byte("# what was read\n"), nil, 0o600); !errors.Is(err, errAnother) {
		t.Errorf("a file that is gone: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error("it came back")
	}
}

func FuzzSetSkill(f *testing.F) {
	for _, b := range waysOfBlock {
		if b != "" {
			f.Add([]byte(fmt.Sprintf(b, "\"s\"")), true)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, enabled bool) {
		if len(text) > 64<<10 {
			return
		}
		got, err := setSkill(text, "config.hcl", "s", enabled)
		if err != nil {
			return
		}
		if b, err := findBlock(got, "config.hcl", "skill", "s"); err != nil || b == nil || !attributesOf(SkillBlock{Enabled: &enabled})[0].stands(got, b) {
			t.Errorf("%q became %q", text, got)
		}
	})
}
