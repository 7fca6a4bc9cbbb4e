package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestProject(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	for _, dir := range []string{"home/.git", "home/.bothy", "home/git/.git", "home/git/a/b", "home/marked/.bothy", "home/marked/in/.git", "home/plain/deep", "outside"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// A worktree's .git is a file.
	if err := os.MkdirAll(at("home/worktree/x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("home/worktree/.git"), []byte("gitdir: x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("home"), at("link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, home, named, want string }{
		{at("home/git/a/b"), at("home"), "", at("home/git")},
		{at("home/git"), at("home"), "", at("home/git")},
		{at("home/marked/in"), at("home"), "", at("home/marked/in")},
		{at("home/marked"), at("home"), "", at("home/marked")},
		{at("home/worktree/x"), at("home"), "", at("home/worktree")},
		{at("home/plain/deep"), at("home"), "", at("home/plain/deep")}, // the marks of the home directory do not count
		{at("link/plain"), at("link"), "", at("home/plain")},
		{at("home"), at("home"), "", ""},
		{at("link"), at("home"), "", ""},
		{at("home"), at("link"), "", ""},
		{"/", at("home"), "", ""},
		{at("home"), at("home"), ".", at("home")}, // named, so allowed
		{at("outside"), at("home"), "/", "/"},
		{at("outside"), at("home"), "../home/git/a", at("home/git/a")},
		{at("outside"), at("home"), at("nope"), ""},
		{at("home/worktree"), at("home"), ".git", ""},
		{at("outside"), "", "", at("outside")},
	} {
		con := &console{dir: c.dir, environ: []string{"HOME=" + c.home}}
		got, err := con.project(c.named)
		var usage usageError
		if got != c.want || (err != nil) != (c.want == "") || err != nil && !errors.As(err, &usage) {
			t.Errorf("in %s, home %s, --project %q: %q, %v; want %q", c.dir, c.home, c.named, got, err, c.want)
		}
	}
}
