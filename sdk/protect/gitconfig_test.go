package protect

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestParseGitConfig(t *testing.T) {
	for in, want := range map[string][]gitSetting{
		"[core]\n\thooksPath = .githooks\n":                         {{"core.hookspath", ".githooks"}},
		"[CORE] HOOKSPATH=a b # no\n":                               {{"core.hookspath", "a b"}},
		"\ufeff[include]\npath = \"../x;y\" ; c\n":                  {{"include.path", "../x;y"}},
		"[includeIf \"gitdir:~/a\\\"b/\"]\r\n path = p \r\n":        {{`includeif.gitdir:~/a"b/.path`, "p"}},
		"[core]\nhooksPath = a\\\n/b\n[x]y=1":                       {{"core.hookspath", "a/b"}, {"x.y", "1"}},
		"[core\nhooksPath = a\n[broken \"sub\n[core]\nhookspath=b":  {{"core.hookspath", "a"}, {"core.hookspath", "b"}},
		"[core]\nbare\n; hooksPath = no\n#x\nhooksPath = \"a\\tb\"": {{"core.hookspath", "a\tb"}},
		"[alias]\n x = \"!f() { # not a comment }\"\n":              {{"alias.x", "!f() { # not a comment }"}},
		"garbage\n[core] hooksPath = z":                             {{"core.hookspath", "z"}},
		"":                                                          nil,
	} {
		if got := parseGitConfig([]byte(in)); !slices.Equal(got, want) {
			t.Errorf("%q:\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestReadGitSettings(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config := write(".git/config", "[include]\npath=../shared.cfg\npath=~/mine\npath=loop\n[core]\nhooksPath=hooks1")
	write("shared.cfg", "[core]\nhooksPath=/abs/hooks\n[includeIf \"gitdir:/x\"]\npath=absent.cfg")
	write("home/mine", "[core]\nhooksPath=~/h")
	write(".git/loop", "[include]\npath=loop")
	got := readGitSettings([]string{config, filepath.Join(dir, "missing"), "/dev/zero"}, filepath.Join(dir, "home"))
	wantFiles := []string{filepath.Join(dir, "shared.cfg"), filepath.Join(dir, "absent.cfg"), filepath.Join(dir, "home/mine"), filepath.Join(dir, ".git/loop")}
	wantHooks := []string{"/abs/hooks", filepath.Join(dir, "home/h"), "hooks1"}
	if !slices.Equal(got.Files, wantFiles) || !slices.Equal(got.Hooks, wantHooks) {
		t.Fatalf("got %q %q", got.Files, got.Hooks)
	}
}

func TestGitFolder(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main/.git/worktrees/w/commondir": "../..\n", "main/.git/config": "", "tree/.git": "gitdir: ../main/.git/worktrees/w\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	folder, common := gitFolder(filepath.Join(dir, "tree"))
	if folder != filepath.Join(dir, "main/.git/worktrees/w") || common != filepath.Join(dir, "main/.git") {
		t.Errorf("got %s %s", folder, common)
	}
	folder, common = gitFolder(filepath.Join(dir, "main"))
	if folder != filepath.Join(dir, "main/.git") || common != folder {
		t.Errorf("got %s %s", folder, common)
	}
}

func FuzzParseGitConfig(f *testing.F) {
	f.Add([]byte("[core]\n\thooksPath = \"a\\\nb\" # c\n[x \"y\\\"\"]z=1"))
	f.Add([]byte("[\"\\"))
	f.Fuzz(func(t *testing.T, in []byte) {
		total := 0
		for _, s := range parseGitConfig(in) {
			total += len(s.value)
		}
		if total > len(in) {
			t.Errorf("%d bytes of values from %d", total, len(in))
		}
	})
}
