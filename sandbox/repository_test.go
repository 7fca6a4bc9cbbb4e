//go:build linux

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk/protect"
)

func found(t testing.TB, r *repositories, root *os.Root) string {
	t.Helper()
	list, err := r.scan(root, protect.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range list {
		out = append(out, f.Path+" "+f.Kind)
	}
	return strings.Join(out, ", ")
}

func openRoot(t testing.TB) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func TestRepositoriesAreFound(t *testing.T) {
	root := openRoot(t)
	var r repositories
	steps := []struct {
		name string
		do   func() error
		want string
	}{
		{"nothing", func() error { return nil }, ""},
		{"the project's own", func() error { return root.MkdirAll(".git/objects", 0o755) }, ".git folder"},
		{"deep below", func() error { return root.MkdirAll("a/b/c/.git", 0o755) }, ".git folder, a/b/c/.git folder"},
		{"a worktree", func() error {
			if err := root.MkdirAll("w", 0o755); err != nil {
				return err
			}
			return root.WriteFile("w/.git", []byte("gitdir: x"), 0o644)
		}, ".git folder, a/b/c/.git folder, w/.git file"},
		{"moved", func() error { return root.Rename("a/b", "z") }, ".git folder, w/.git file, z/c/.git folder"},
		{"a link", func() error { return root.Symlink("../z/c/.git", "a/.git") }, ".git folder, a/.git link, w/.git file, z/c/.git folder"},
		{"not through links", func() error { return root.Symlink("z", "again") }, ".git folder, a/.git link, w/.git file, z/c/.git folder"},
		{"half of a bare one", func() error {
			if err := root.MkdirAll("bare/objects", 0o755); err != nil {
				return err
			}
			return root.WriteFile("bare/HEAD", nil, 0o644)
		}, ".git folder, a/.git link, w/.git file, z/c/.git folder"},
		{"a bare one", func() error { return root.Mkdir("bare/refs", 0o755) }, ".git folder, a/.git link, bare bare, w/.git file, z/c/.git folder"},
		{"hidden", func() error { return root.Chmod("z", 0) }, ".git folder, a/.git link, bare bare, w/.git file, z/c/.git folder"},
		{"gone", func() error { return root.RemoveAll("w") }, ".git folder, a/.git link, bare bare, z/c/.git folder"},
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			t.Fatal(s.name, err)
		}
		if got := found(t, &r, root); got != s.want {
			t.Errorf("%s: got %s, want %s", s.name, got, s.want)
		}
	}
	if info, err := root.Lstat("z"); err != nil || info.Mode().Perm() != 0 {
		t.Errorf("a closed folder was left open: %v %v", info.Mode(), err)
	}
	_ = root.Chmod("z", 0o755)
}

// What is remembered never hides what is there.
func TestRememberedFoldersEqualAFreshLook(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "p")
		if err != nil {
			rt.Fatal(err)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = root.Close() }()
		names := rapid.SampledFrom([]string{"a", "b", "a/b", "a/.git", "b/.git", "a/b/.git", "a/HEAD", "a/objects", "a/refs", "b/commondir", "b/HEAD"})
		var r repositories
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			name := names.Draw(rt, "name")
			switch rapid.SampledFrom([]string{"mkdir", "write", "remove", "rename"}).Draw(rt, "op") {
			case "mkdir":
				_ = root.MkdirAll(name, 0o755)
			case "write":
				_ = root.WriteFile(name, nil, 0o644)
			case "remove":
				_ = root.RemoveAll(name)
			case "rename":
				_ = root.Rename(name, names.Draw(rt, "to"))
			}
			if got, want := found(t, &r, root), found(t, &repositories{}, root); got != want {
				rt.Fatalf("remembered %s, there is %s", got, want)
			}
		}
	})
}

func TestTooManyRepositories(t *testing.T) {
	root := openRoot(t)
	for i := range mostRepositories + 1 {
		if err := root.MkdirAll(fmt.Sprintf("r%d/.git", i), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := (&repositories{}).scan(root, protect.Rules{}); err == nil {
		t.Fatal("all of them were taken")
	}
}

func TestWhatConfigurationNamesIsProtected(t *testing.T) {
	root := openRoot(t)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	if err := os.WriteFile(filepath.Join(os.Getenv("HOME"), ".gitconfig"), []byte("[core] hooksPath = .everywhere"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := root.MkdirAll(".git", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := root.WriteFile(".git/config", []byte("[include] path=../shared.cfg\n[core] hooksPath=.husky/_\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := root.MkdirAll(".husky/_", 0o755); err != nil {
		t.Fatal(err)
	}
	list, err := (&repositories{}).scan(root, protect.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := newProtection(root, root.Name(), protect.Rules{}, protect.Paths(), list)
	if err != nil {
		t.Fatal(err)
	}
	want := []protectedMount{{".git", true}, {".husky", false}, {".husky/_", true}}
	if !slices.Equal(p.mounts, want) {
		t.Errorf("mounts %v, want %v", p.mounts, want)
	}
	for _, path := range []string{"shared.cfg", ".everywhere", ".bothy", ".bashrc"} {
		if !slices.ContainsFunc(p.watch, func(w watched) bool { return w.Path == path }) {
			t.Errorf("%s is not watched", path)
		}
	}
	if slices.ContainsFunc(p.watch, func(w watched) bool { return strings.HasPrefix(w.Path, ".git/") }) {
		t.Errorf("what the host makes in .git would be taken away: %+v", p.watch)
	}
}

// A mount that can be written must not stand in one that cannot.
func TestNothingIsOpenedInWhatIsSealed(t *testing.T) {
	root := openRoot(t)
	for _, dir := range []string{".bothy/x/.git/hooks", ".agents", ".claude/skills", "sub/.git/hooks"} {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	list, err := (&repositories{}).scan(root, protect.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := newProtection(root, root.Name(), protect.Rules{}, protect.Paths(), list)
	if err != nil {
		t.Fatal(err)
	}
	want := []protectedMount{{".agents", true}, {".bothy", true}, {".claude", true}, {"sub/.git", true}}
	if !slices.Equal(p.mounts, want) {
		t.Errorf("mounts %v, want %v", p.mounts, want)
	}
}

func BenchmarkScan(b *testing.B) {
	root := openRoot(b)
	for i := range 5000 {
		if err := root.MkdirAll(fmt.Sprintf("d%d/e%d/f%d", i%10, i%100, i), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	var r repositories
	for b.Loop() {
		if _, err := r.scan(root, protect.Rules{}); err != nil {
			b.Fatal(err)
		}
	}
}
