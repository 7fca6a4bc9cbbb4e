package main

import (
	"errors"
	"testing"

	"github.com/bothyd/bothy/sandbox"
)

// TestJudgeOfANewRepository: what `git init` writes is applied without its examples,
// and nobody is told of those; a hook in their place is.
func TestJudgeOfANewRepository(t *testing.T) {
	const config = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"
	folder := func(path string) sandbox.Change {
		return sandbox.Change{Path: path, Is: sandbox.Node{Kind: sandbox.NodeDirectory}, Whole: true}
	}
	file := func(path string) sandbox.Change {
		return sandbox.Change{Path: path, Is: sandbox.Node{Kind: sandbox.NodeFile}}
	}
	want := []struct {
		change sandbox.Change
		class  sandbox.Class
	}{
		{folder("a/.git"), sandbox.Free}, {file("a/.git/HEAD"), sandbox.Free}, {folder("a/.git/branches"), sandbox.Free},
		{file("a/.git/branches/x"), sandbox.Refused}, {file("a/.git/config"), sandbox.Free}, {folder("a/.git/hooks"), sandbox.Free},
		{file("a/.git/hooks/post-update.sample"), sandbox.Dropped}, {file("a/.git/hooks/pre-commit"), sandbox.Refused},
		{folder("a/.git/info"), sandbox.Free}, {file("a/.git/info/exclude"), sandbox.Free}, {file("a/.git/rebase-merge/git-rebase-todo"), sandbox.Refused},
		{file("a/.vscode/tasks.json"), sandbox.Asked}, {file("a/hooks/x.sample"), sandbox.Free}, {file(".bashrc"), sandbox.Refused},
	}
	var changes []sandbox.Change
	for _, w := range want {
		changes = append(changes, w.change)
	}
	none := errors.New("not there")
	rulings := judge{configured: &configured{}}.Rule(t.TempDir(), changes, sandbox.Readers{
		After: func(path string, _ int) ([]byte, error) {
			if path == "a/.git/config" {
				return []byte(config), nil
			}
			return nil, nil
		},
		Before: func(string, int) ([]byte, error) { return nil, none },
	})
	for i, w := range want {
		if rulings[i].Class != w.class {
			t.Errorf("%s: got %+v, want %d", w.change.Path, rulings[i], w.class)
		}
	}
}
