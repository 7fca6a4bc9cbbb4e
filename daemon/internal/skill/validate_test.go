package skill

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// kinds are files of other people, by what must become of them.
var kinds = []struct {
	text             string
	loaded, repaired bool
}{
	{"---\nname: %s\ndescription: Does what skill %[1]s does.\n---\n# Body\n", true, false},
	{"---\nname: %s\ndescription: Use it: when %[1]s is asked\n---\nbody\n", true, true},
	{"---\ndescription: >\n  folded\n  text\nmetadata: {a: [1, 2.5, yes], b: {c: 2026-03-06}}\n---\nbody %s\n", true, false},
	{"\ufeff---\r\nname: %s\r\ndescription: d\r\nallowed-tools: [Read, \"Bash(x:*)\"]\r\n---\r\nbody\r\n", true, false},
	{"---\nname: Skill Of %s\ndescription: d\nallowed-tools: Read, Bash(git:*, jq:*)\n---\nbody\n", true, false},
	{"# No frontmatter in %s\n\ntext\n", false, false},
	{"---\nname: %s\n---\nno description\n", false, false},
	{"---\nname: %s\ndescription: d\nnever closed\n", false, false},
	{"---\nname: %s\ndescription: [\n---\n", false, false},
	{"---\nname: %s\ndescription: d\x00\n---\n", false, false},
}

// TestValidateThousands writes a tree of skills of all kinds and reads it.
func TestValidateThousands(t *testing.T) {
	root := t.TempDir()
	const many = 2000
	want := map[string]int{}
	for i := range many {
		name := fmt.Sprintf("skill-%d", i)
		folder := filepath.Join(root, fmt.Sprintf("owner-%d", i%37), "skills", name)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(folder, []string{"SKILL.md", "SKILL.md", "skill.md", "SKILL.MD"}[i%4])
		if err := os.WriteFile(file, fmt.Appendf(nil, kinds[i%len(kinds)].text, name), 0o600); err != nil {
			t.Fatal(err)
		}
		want[file] = i % len(kinds)
	}
	verdicts, err := Validate(context.Background(), []string{root})
	if err != nil {
		t.Fatal(err)
	}
	if len(verdicts) != many {
		t.Fatalf("%d of %d were read", len(verdicts), many)
	}
	paths := make([]string, 0, many)
	for _, v := range verdicts {
		paths = append(paths, v.Path)
		i, ok := want[v.Path]
		if !ok {
			t.Fatalf("%s is none of them, or comes twice", v.Path)
		}
		delete(want, v.Path)
		if k := kinds[i]; v.Loaded != k.loaded || v.Loaded && v.Repaired != k.repaired || v.Loaded == v.Failed() || v.Name == "" || v.Diagnostics == nil {
			t.Fatalf("%q: %+v", k.text, v)
		}
	}
	if !slices.IsSorted(paths) {
		t.Error("the verdicts are not in the order of the paths")
	}
}

// TestValidateTouchesNothing has a repository that wants to be followed and
// executed.
func TestValidateTouchesNothing(t *testing.T) {
	outside, root := t.TempDir(), t.TempDir()
	write := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	good := "---\nname: a\ndescription: d\n---\n!`touch " + filepath.Join(outside, "ran") + "`\n"
	write(filepath.Join(outside, "secret", "SKILL.md"), good, 0o600)
	write(filepath.Join(root, "a", "SKILL.md"), good, 0o700)
	write(filepath.Join(root, "a", "scripts", "run.sh"), "#!/bin/sh\ntouch "+filepath.Join(outside, "ran")+"\n", 0o700)
	write(filepath.Join(root, ".git", "a", "SKILL.md"), good, 0o600)
	write(filepath.Join(root, "node_modules", "a", "SKILL.md"), good, 0o600)
	write(filepath.Join(root, "x", "SKILL.md.bak"), good, 0o600)
	for _, dir := range []string{"b", "c", "d"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"out": filepath.Join(outside, "secret"), "b/SKILL.md": filepath.Join(outside, "secret", "SKILL.md"), "b/loop": ".."} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(root, "c", "SKILL.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "d", "SKILL.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	verdicts, err := Validate(context.Background(), []string{root, root})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, v := range verdicts {
		rel, _ := filepath.Rel(root, v.Path)
		got[rel] = ""
		for _, d := range v.Diagnostics {
			got[rel] += d.Code
		}
	}
	want := map[string]string{"a/SKILL.md": "", "b/SKILL.md": "link", "c/SKILL.md": "not-a-file", "d/SKILL.md": "not-a-file"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := os.Stat(filepath.Join(outside, "ran")); err == nil {
		t.Error("something was executed")
	}
	if _, err := Validate(context.Background(), []string{root, filepath.Join(root, "not there")}); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("a path that is not there: %v", err)
	}
	named, err := Validate(context.Background(), []string{filepath.Join(root, "out")})
	if err != nil || len(named) != 1 || !named[0].Loaded {
		t.Errorf("a link that was named: %+v, %v", named, err)
	}
}

// TestValidateIsStrict has what loads and what the standard, or a careful
// reader, finds wrong with it.
func TestValidateIsStrict(t *testing.T) {
	for _, c := range []struct{ name, text, code string }{
		{"the folder's name", "---\nname: b\ndescription: d\n---\nx\n", "name-folder"},
		{"a description over 1024 characters", "---\nname: a\ndescription: " + strings.Repeat("ä", 1025) + "\n---\nx\n", "description-long"},
		{"a long compatibility", "---\nname: a\ndescription: d\ncompatibility: " + strings.Repeat("x", 501) + "\n---\nx\n", "compatibility-long"},
		{"a tool that nobody has", "---\nname: a\ndescription: d\ntools_required: [bsh]\n---\nx\n", "tool-unknown"},
		{"a tool that others have", "---\nname: a\ndescription: d\nallowed-tools: WebFetch\n---\nx\n", "tool-unknown"},
		{"a field spelled wrong", "---\nname: a\ndescription: d\nallowed_tools: Bash\n---\nx\n", "field-unknown"},
		{"a long text", "---\nname: a\ndescription: d\n---\n" + strings.Repeat("x\n", 501), "body-long"},
		{"no text", "---\nname: a\ndescription: d\n---\n\n", "body-empty"},
		{"a comment", "---\nname: a\ndescription: d # or more\n---\nx\n", "comment"},
		{"letters that others may refuse", "---\nname: größe\ndescription: d\n---\nx\n", "name-characters"},
	} {
		d := parse([]byte(c.text), "a", true)
		if !d.Loaded || !slices.Contains(codes(d), c.code) {
			t.Errorf("%s: loaded %v, %v", c.name, d.Loaded, codes(d))
		}
		if lenient := Parse([]byte(c.text), "a"); slices.Contains(codes(lenient), c.code) {
			t.Errorf("%s: not only when strict: %v", c.name, codes(lenient))
		}
	}
	d := parse([]byte("---\nname: a\ndescription: d\nwhen_to_use: w\nauthor: me\nmetadata: {any: thing}\n---\nx\n"), "a", true)
	if len(d.Diagnostics) != 0 || d.Extensions["when_to_use"] != "w" || d.Extensions["author"] != "me" {
		t.Errorf("fields of other agents: %+v", d)
	}
}

func TestVerdictJSON(t *testing.T) {
	text, err := json.Marshal(Verdict{Path: "p", Name: "n", Loaded: true, Diagnostics: []sdk.FileDiagnostic{}})
	if err != nil || string(text) != `{"path":"p","name":"n","loaded":true,"repaired":false,"diagnostics":[]}` {
		t.Errorf("%s, %v", text, err)
	}
}
