package protect

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestIsRepository(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  bool
	}{
		{[]string{"HEAD", "objects", "refs"}, true}, {[]string{"HEAD", "commondir"}, true},
		{[]string{"HEAD", "objects"}, false}, {[]string{"objects", "refs"}, false}, {[]string{"commondir"}, false}, {nil, false},
	} {
		if got := (Rules{}).IsRepository(func(name string) bool { return slices.Contains(c.names, name) }); got != c.want {
			t.Errorf("%q: got %t", c.names, got)
		}
	}
}

// plant writes files below a folder and returns it.
func plant(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestConfigured goes through a project's own repository, one below it, a worktree
// and a bare one, and through a link to the project.
func TestConfigured(t *testing.T) {
	dir := plant(t, map[string]string{
		"home/.gitconfig": "[core] hooksPath = everywhere", "elsewhere/main/config": "[include] path = ../../project/tree/extra",
		"project/.git/config": "[include] path = ../team.cfg\n[core] hooksPath = /elsewhere", "project/lib/.git/config": "[core] hooksPath = mine",
		"project/tree/.git": "gitdir: ../../elsewhere/main", "project/bare/HEAD": "", "project/bare/commondir": ".", "project/bare/config": "[core] hooksPath = own",
		"project/none/config": "[core] hooksPath = no",
	})
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("XDG_CONFIG_HOME", "")
	if err := os.Symlink("project", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	want := []string{"bare/everywhere", "bare/own", "everywhere", "lib/everywhere", "lib/mine", "none/everywhere", "team.cfg", "tree/everywhere", "tree/extra"}
	for _, project := range []string{"project", "link"} {
		got := Rules{}.Configured(filepath.Join(dir, project), []string{".", "lib", "tree", "bare", "none"})
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", project, got, want)
		}
	}
	if got := (Rules{}).Configured(filepath.Join(dir, "missing"), nil); got != nil {
		t.Errorf("of a project that is not there: %q", got)
	}
}

func TestConfiguresMore(t *testing.T) {
	dir := plant(t, map[string]string{
		"plain/config": "[core] bare = true", "hooks/config": "[core] hooksPath = x", "include/config.worktree": "[include] path = x",
	})
	for name, want := range map[string]bool{"plain": false, "hooks": true, "include": true, "missing": false} {
		if got := (Rules{}).ConfiguresMore(filepath.Join(dir, name)); got != want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

func TestGitTarget(t *testing.T) {
	for text, want := range map[string]string{
		"gitdir: ../main/.git/worktrees/w\n": "/p/main/.git/worktrees/w", "gitdir: /abs\r\n": "/abs", "gitdir: ": "/p/w/.git", "other": "/p/w/.git", "": "/p/w/.git",
	} {
		if got := (Rules{}).GitTarget("/p/w", []byte(text)); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}
