package protect

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestJudge(t *testing.T) {
	protected := append(Paths(), "Library/bothy")
	for at, want := range map[string]Finding{
		"bothy.lock": {Protected, "bothy.lock"}, "Bothy.Lock": {Protected, "bothy.lock"}, "bothy.loc\u212a": {Protected, "bothy.lock"},
		".bothy/agents.hcl": {Protected, ".bothy"}, ".\u200cbothy": {Protected, ".bothy"}, ".agents/skills/x": {Protected, ".agents"},
		".git/hooks/new": {Protected, ".git/hooks"}, ".GIT/Config": {Protected, ".git/config"}, "library/Bothy/x": {Protected, "Library/bothy"},
		".git": {Holds, ".git/hooks"}, ".claude": {Holds, ".claude/skills"}, "Library": {Holds, "Library/bothy"}, ".": {Holds, ".git/hooks"},
		"bothy.lock.md": {}, ".bothyrc": {}, ".gitignore": {}, ".git/HEAD": {}, ".claude/settings.json": {}, "x/.bothy": {}, "": {},
	} {
		if got := Judge(at, protected); got != want {
			t.Errorf("%q: got %v, want %v", at, got, want)
		}
	}
}

func TestJudgeGit(t *testing.T) {
	for at, want := range map[string]Finding{
		".git": {Repository, ".git"}, "a/.GIT": {Repository, "a/.GIT"}, ".g\u200cit": {Repository, ".g\u200cit"}, ".git/.git": {Repository, ".git/.git"},
		".git/config": {Protected, ".git/config"}, "a/b/.Git/Hooks/x": {Protected, "a/b/.Git/Hooks"}, ".git/modules/m/config": {Protected, ".git/modules"},
		".git/config.worktree": {Protected, ".git/config.worktree"}, ".git/commondir": {Protected, ".git/commondir"}, "a/.git/worktrees": {Protected, "a/.git/worktrees"},
		".git/HEAD": {}, ".git/info/config": {}, "git/config": {}, ".github/config": {}, "hooks": {}, ".": {}, "": {},
	} {
		if got := JudgeGit(at); got != want {
			t.Errorf("%q: got %v, want %v", at, got, want)
		}
	}
}

// TestNothingProtectedIsFree: whatever lies in a protected path, or holds one, has
// a reason, however it is written.
func TestNothingProtectedIsFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(Paths()).Draw(t, "name")
		at := name
		if rapid.Bool().Draw(t, "above") {
			at = strings.SplitN(name, "/", 2)[0]
		} else {
			at += rapid.SampledFrom([]string{"", "/x", "/x/y"}).Draw(t, "below")
		}
		written := []rune(at)
		for i := range written {
			if rapid.Bool().Draw(t, "upper") {
				written[i] = []rune(strings.ToUpper(string(written[i])))[0]
			}
		}
		cut := rapid.IntRange(0, len(written)).Draw(t, "unseen")
		for _, unseen := range []string{"", "\u200c", "\ufeff"} {
			at := string(written[:cut]) + unseen + string(written[cut:])
			if Judge(at, Paths()).Reason == "" {
				t.Fatalf("%q is free", at)
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
