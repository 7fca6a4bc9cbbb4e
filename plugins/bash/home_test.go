package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bothyd/bothy/sandbox"
)

func TestIdentity(t *testing.T) {
	for out, want := range map[string]sandbox.Identity{
		"":                                      {},
		"user.name\nA B\x00user.email\na@b\x00": {Name: "A B", Email: "a@b"},
		"user.name\nA\x00user.name\nB\nC\x00":   {Name: "B\nC"},
		"user.email\x00user.signingkey\nx\x00nonsense": {},
	} {
		if got := identity([]byte(out)); got != want {
			t.Errorf("%q: got %+v, want %+v", out, got, want)
		}
	}
}

// TestIdentityIsThatOfTheHome: what the configuration includes counts, and a repository's does not.
func TestIdentityIsThatOfTheHome(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Chdir(home)
	for name, text := range map[string]string{".gitconfig": "[user]\nname = Me\n[include]\npath = more\n", "more": "[user]\nemail = me@here\n", ".git/config": "[user]\nname = Other\n", ".git/HEAD": "ref: refs/heads/main\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := withIdentity(t.Context(), sandbox.Config{}).Identity, (sandbox.Identity{Name: "Me", Email: "me@here"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
