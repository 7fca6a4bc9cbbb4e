package project

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// TestDashedNames: a pattern has the name in its folder that may be an option.
func TestDashedNames(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"-rf", "a", "sub/a", "deep/-x"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := Links(root, []string{"*", "sub/*", "deep/*.go", "absent/*", "a", "../*"})
	if want := map[string]string{"*": "-rf", "deep/*.go": "deep/-x"}; !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLinks(t *testing.T) {
	root := filepath.Join(t.TempDir(), "p")
	for _, dir := range []string{".git/refs", "a/b", "real"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"g": ".git", "a/l": "../.git/refs", "far": "/etc", "own": filepath.Join(root, "real"), "inner": "/workspace/.git/hooks", "chain": "a/b/../../g", "loop": "loop",
		"up": "../..", "a/b/here": ".",
	} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{
		"g": ".git", "g/commondir": ".git/commondir", "a/l/../config": ".git/config", "a/../g//hooks/x": ".git/hooks/x", "far/hosts": "/etc/hosts", "own/x": "real/x",
		"inner/pre-commit": ".git/hooks/pre-commit", "chain/new/x": ".git/new/x", "loop/x": "/", "a/b/here/x": "a/b/x", "up/x": filepath.Join(filepath.Dir(filepath.Dir(root)), "x"),
	}
	named := []string{"", ".", "a/b/c", "absent/x", "../x", "/g/x", ".git/config", "a/b/../../real"}
	for name := range want {
		named = append(named, name)
	}
	got := Links(root, named)
	if up := got["up/x"]; up != want["up/x"] && up != filepath.Join(filepath.Dir(root), "x") {
		t.Errorf("up/x leads to %s", up)
	}
	delete(got, "up/x")
	delete(want, "up/x")
	if !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
