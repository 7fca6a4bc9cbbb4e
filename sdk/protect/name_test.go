package protect

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestName has every path that has a class by its name, and neighbours that do
// not.
func TestName(t *testing.T) {
	for class, paths := range map[Class][]string{
		Refused: {
			".git", "a/.GIT", ".g\u200cit", ".git/config", "a/b/.Git/Hooks/x", ".git/modules/m/config", ".git/config.worktree", ".git/commondir",
			"a/.git/worktrees", ".git/remotes/origin", ".git/branches/x", ".git/info/attributes", ".git/objects/info/alternates",
			".git/rebase-merge/git-rebase-todo", ".git/rebase-apply/patch", ".git/sequencer/todo", ".git/refs/replace/x",
			".git/HEAD", ".git/refs/heads/main", ".git/index", ".git/info/exclude",
			".bothy", ".bothy/agents.hcl", "x/.bothy", ".\u200cbothy", ".agents/skills/x", "bothy.lock", "Bothy.Lock", "bothy.loc\u212a",
			".claude", ".claude/settings.json", ".claude/commands/x.md", ".Claude/Agents/x", "a/.claude", ".codex/config.toml", ".cursor/mcp.json", ".gemini/settings.json",
			".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zprofile", ".zshenv", ".zlogin", ".kshrc", "dot/.bashrc",
			".config/fish/config.fish", ".config/fish", "home/.config/fish/x", ".gitconfig", ".config/git/config", ".",
		},
		Asked: {
			".vscode", ".vscode/tasks.json", "a/.VSCode/settings.json", ".idea/workspace.xml", ".devcontainer/devcontainer.json", ".mcp.json", "sub/.mcp.json", ".envrc",
			".husky", ".husky/pre-commit", ".pre-commit-config.yaml", ".gitmodules", ".gitattributes", "a/.gitattributes", ".npmrc", ".github/workflows", ".github/workflows/ci.yml",
		},
		Free: {
			"bothy.lock.md", ".bothyrc", ".gitignore", "git/config", ".github/config", ".github/dependabot.yml", "hooks", "config", "Makefile", "package.json",
			".configuration", ".config/other", "claude/x", "src/main.go", ".env", ".envrc.md", "AGENTS.md", "node_modules/a/.vscode/x", "node_modules/a/.npmrc",
		},
	} {
		for _, at := range paths {
			got := Rules{}.Name(at)
			if got.Class != class || (got.Reason == "") != (class == Free) || (got.Name == "") != (class == Free) {
				t.Errorf("%q: got %+v, want %s", at, got, class)
			}
		}
	}
	for at, want := range map[string]Finding{
		".config": {Refused, byShell, ".config/fish", true}, ".github": {Asked, byEditor, ".github/workflows", true}, "a/.cargo": {Asked, byEditor, "a/.cargo/config", true},
		"a/.git/hooks/x": {Refused, byGit, "a/.git/hooks", false}, "a/.git/HEAD": {Refused, GitsOwn, "a/.git", false},
		"node_modules/a/.claude/x": {Refused, byAgent, "node_modules/a/.claude", false}, "A/.Claude/x": {Refused, byAgent, "A/.Claude", false},
	} {
		if got := (Rules{}).Name(at); got != want {
			t.Errorf("%q: got %+v, want %+v", at, got, want)
		}
	}
}

// TestFound: what was found beforehand counts, unless it is freed, and never less
// than the name does.
func TestFound(t *testing.T) {
	r := Rules{Free: []string{"tools/free.sh"}, Found: []Finding{
		{Class: Asked, Reason: byProgram, Name: "tools/conv.sh"}, {Class: Asked, Reason: byProgram, Name: "tools/free.sh"}, {Class: Refused, Reason: byGit, Name: ".husky/_"}, {Class: Asked, Reason: byProgram, Name: ".bashrc"},
	}}
	for at, want := range map[string]Finding{
		"tools/conv.sh": {Asked, byProgram, "tools/conv.sh", false}, "Tools": {Asked, byProgram, "tools/conv.sh", true}, "tools/free.sh": {}, "tools/other": {},
		".husky/_/x": {Refused, byGit, ".husky/_", false}, ".husky/x": {Asked, byHooks, ".husky", false}, ".bashrc": {Refused, byShell, ".bashrc", false},
	} {
		if got := r.Name(at); got != want {
			t.Errorf("%q: got %+v, want %+v", at, got, want)
		}
	}
}

// TestSettings opens and closes paths by patterns, and holds that the two lists
// that add never open anything.
func TestSettings(t *testing.T) {
	r := Rules{
		Refuse: []string{"deploy/keys/**", "*.tf", "Secret.txt"}, Ask: []string{"Makefile", ".claude", "db/*/up.sql"},
		Free: []string{".vscode", ".claude", "tools/**", "x/.git/hooks", "**"},
	}
	for at, want := range map[string]Class{
		"deploy/keys": Refused, "deploy/keys/a/b": Refused, "deploy": Refused, "deploy/other": Free, "main.tf": Refused, "a/b.TF": Refused, "a/b.tf/c": Refused, "secret.txt": Refused,
		"Makefile": Asked, "a/Makefile": Asked, ".claude/settings.json": Asked, "db/1/up.sql": Asked, "db/1/2/up.sql": Free, "x/db/1/up.sql": Free,
		".vscode/tasks.json": Free, "a/.vscode": Free, "tools/.bashrc": Free, ".idea/x": Free,
		".git/config": Refused, "y/.git/hooks/x": Refused, "x/.git/hooks/x": Free, ".bothy/x": Refused, "bothy.lock": Refused, ".git": Refused,
	} {
		if got := r.Name(at); got.Class != want {
			t.Errorf("%q: got %+v, want %s", at, got, want)
		}
	}
	if got := r.Name("deploy"); !got.Holds || got.Name != "deploy/keys" {
		t.Errorf("got %+v", got)
	}
	for pattern, ok := range map[string]bool{
		"a": true, "a/**": true, "**/x": true, "*.go": true, "": false, ".": false, "/": false, "/a": false, "~/a": false, "../a": false, "a/../b": false, "a[": false, `a\`: false,
	} {
		if err := CheckPattern(pattern); (err == nil) != ok {
			t.Errorf("%q: %v", pattern, err)
		}
	}
}

// TestListsOnlyNarrow: one more pattern that refuses or asks never lowers a class.
func TestListsOnlyNarrow(t *testing.T) {
	part := rapid.SampledFrom([]string{"a", ".git", ".vscode", ".claude", "*", "**", "x.tf", "*.tf", "config", ".bothy", "deploy"})
	pattern := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "parts"), "/") })
	rapid.Check(t, func(t *rapid.T) {
		r := Rules{Refuse: rapid.SliceOfN(pattern, 0, 2).Draw(t, "refuse"), Ask: rapid.SliceOfN(pattern, 0, 2).Draw(t, "ask"), Free: rapid.SliceOfN(pattern, 0, 2).Draw(t, "free")}
		at, more := pattern.Draw(t, "path"), pattern.Draw(t, "more")
		before := r.Name(at).Class
		r.Ask = append(slices.Clone(r.Ask), more)
		if got := r.Name(at).Class; got < before {
			t.Fatalf("asked about %q, %q became %s", more, at, got)
		}
		r.Refuse = append(slices.Clone(r.Refuse), more)
		if got := r.Name(at).Class; got < before {
			t.Fatalf("with %q refused, %q became %s", more, at, got)
		}
	})
}

// TestNothingIsFreeBySpelling: whatever lies in a path that is not free, or holds
// one, is at least of its class, however it is written and wherever it lies.
func TestNothingIsFreeBySpelling(t *testing.T) {
	all := append(Names(), Finding{Refused, byGit, ".git", false})
	for _, part := range gitParts {
		all = append(all, Finding{Refused, byGit, ".git/" + strings.Join(part, "/"), false})
	}
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(all).Draw(t, "name")
		at := rapid.SampledFrom([]string{"", "sub/", "a/b/"}).Draw(t, "above") + f.Name
		if rapid.Bool().Draw(t, "holding") {
			at = strings.TrimSuffix(at, "/"+filepath.Base(at))
			if at == "sub" || at == "a/b" || !strings.Contains(f.Name, "/") {
				return
			}
		} else {
			at += rapid.SampledFrom([]string{"", "/x", "/x/y", "//x/./y", "/"}).Draw(t, "below")
		}
		written := []rune(at)
		for i := range written {
			if rapid.Bool().Draw(t, "upper") {
				written[i] = []rune(strings.ToUpper(string(written[i])))[0]
			}
		}
		cut := rapid.IntRange(0, len(written)).Draw(t, "unseen")
		for _, unseen := range []string{"", "\u200c", "\ufeff", "\ufe0f", "\u034f", "\u3164", "\U000e0100"} {
			at := string(written[:cut]) + unseen + string(written[cut:])
			if got := (Rules{}).Name(at); got.Class < f.Class {
				t.Fatalf("%q is %s, and %s is %s", at, got.Class, f.Name, f.Class)
			}
		}
	})
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		at, folder string
		want       bool
	}{{"a", "a", true}, {"a/b", "A", true}, {"ab", "a", false}, {"a", "a/b", false}} {
		if got := Within(c.at, c.folder); got != c.want {
			t.Errorf("%q in %q: got %t", c.at, c.folder, got)
		}
	}
}

func TestSecret(t *testing.T) {
	for at, want := range map[string]bool{
		"/home/bothy/.ssh/id_ed25519": true, "/root/.ssh": true, "/workspace/.env": true, ".env": true, "a/.ENV": true, "prod.env": true, ".env.local": true,
		".env.example": false, ".environment": false, "env": false, "environ": false, "/home/x/.aws/credentials": true, "/home/x/.config/gh/hosts.yml": true,
		".docker/config.json": true, "/etc/shadow": true, "/etc/hosts": false, "/run/secrets/db": true, "tls/server.key": true, "tls/cert.pem": false,
		"id_rsa": true, "id_rsa.pub": false, "HEAD:.env": true, "HEAD:src/prod.env": true, "a:b": false, "": false,
	} {
		if got := Secret(at); got != want {
			t.Errorf("Secret(%q) = %t", at, got)
		}
	}
}

func TestSecretPatterns(t *testing.T) {
	for pattern, want := range map[string][3]bool{ // made for it; fits as a shell's; fits with dots
		"*": {false, true, true}, ".e*": {true, true, true}, ".en?": {true, true, true}, "*.go": {false, false, false}, "*.env": {true, true, true},
		"*.pem": {false, true, true}, "id_*": {true, true, true}, "*.md": {false, false, false}, "main*": {false, true, true}, "*_test.go": {false, false, false},
		"?env": {false, true, true}, "x[": {false, true, true}, "*.json": {false, true, true},
	} {
		if got := [3]bool{SecretPattern(pattern), SecretMatch(pattern, false), SecretMatch(pattern, true)}; got != want {
			t.Errorf("%q: got %v, want %v", pattern, got, want)
		}
	}
}

func TestBothyPaths(t *testing.T) {
	t.Setenv("HOME", "/home/u")
	t.Setenv("XDG_CONFIG_HOME", "/config")
	got := BothyPaths("/data", "/usr")
	want := []string{"/data", "/usr/libexec/bothy", "/usr/share/bothy", "/usr/bin/bothy", "/usr/bin/bothyd"}
	if len(got) != 6 || !slices.Equal(got[:5], want) || filepath.Base(got[5]) != "bothy" {
		t.Errorf("got %q", got)
	}
	if got := BothyPaths("", ""); len(got) != 1 {
		t.Errorf("of nothing: %q", got)
	}
}

// TestFold: names that a file system takes for the same fold alike.
func TestFold(t *testing.T) {
	for a, b := range map[string]string{
		".GIT": ".git", ".g\u0131t": ".g\u0131t", ".\ufb01sh": ".fish", ".con\uFB01g": ".config", ".ba\u017fhrc": ".bashrc", "STRA\u00dfE": "strasse", "\u1e9e": "ss",
		".vs\ufe00code": ".vscode", "\u212a": "k", "o\ufb03ce": "office",
	} {
		if !Alike(a, b) {
			t.Errorf("%q folds to %q, %q to %q", a, Fold(a), b, Fold(b))
		}
	}
	if Alike(".git", ".g\u0131t") {
		t.Error("a letter of its own folds to another")
	}
}
