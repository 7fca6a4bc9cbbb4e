package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	rulings := judge{configured: &configured{}}.Rule("run", t.TempDir(), nil, changes, sandbox.Readers{
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

// TestJudgeAsksWhatUndoCannotGiveBack: of what is free the largest is asked about,
// until the rest can be kept.
func TestJudgeAsksWhatUndoCannotGiveBack(t *testing.T) {
	file := func(path string, size int64) sandbox.Change {
		return sandbox.Change{Path: path, Was: sandbox.Node{Kind: sandbox.NodeFile}, Is: sandbox.Node{Kind: sandbox.NodeFile}, Bytes: size}
	}
	changes := []sandbox.Change{file("a", 40), file(".vscode/tasks.json", 1000), file("b", 100), file("c", 60), {Path: "d", Is: sandbox.Node{Kind: sandbox.NodeFile}}}
	for _, row := range []struct {
		undo  int64
		asked []string
	}{
		{0, []string{".vscode/tasks.json"}},
		{200, []string{".vscode/tasks.json"}},
		{199, []string{".vscode/tasks.json", "b"}},
		{99, []string{".vscode/tasks.json", "b", "c"}},
		{39, []string{"a", ".vscode/tasks.json", "b", "c"}},
	} {
		var asked []string
		for i, r := range (judge{configured: &configured{}, undo: row.undo}).Rule("run", t.TempDir(), nil, changes, sandbox.Readers{}) {
			if r.Class == sandbox.Asked {
				asked = append(asked, changes[i].Path)
			}
		}
		if !slices.Equal(asked, row.asked) {
			t.Errorf("%d bytes are kept: asked about %q, want %q", row.undo, asked, row.asked)
		}
	}
}

// TestJudgeAsksWhatIsLost: a file that a program has open to write is asked about, and a
// pipe that goes, unless it is refused anyway.
func TestJudgeAsksWhatIsLost(t *testing.T) {
	changes := []sandbox.Change{
		{Path: "log", Was: sandbox.Node{Kind: sandbox.NodeFile}, Busy: true},
		{Path: ".bashrc", Was: sandbox.Node{Kind: sandbox.NodeFile}, Is: sandbox.Node{Kind: sandbox.NodeFile}, Busy: true},
		{Path: "pipe", Was: sandbox.Node{Kind: sandbox.NodeOther}},
	}
	rulings := judge{configured: &configured{}}.Rule("run", t.TempDir(), nil, changes, sandbox.Readers{})
	if rulings[2].Class != sandbox.Asked || !strings.Contains(rulings[2].Reason, "a pipe") {
		t.Errorf("of a pipe: %+v", rulings[2])
	}
	if rulings[0].Class != sandbox.Asked || !strings.Contains(rulings[0].Reason, "open to write") || rulings[1].Class != sandbox.Refused {
		t.Errorf("got %+v", rulings)
	}
}

// TestJudgeOfWrites: what a run was not given to change is refused, with what goes in a folder or takes its place.
func TestJudgeOfWrites(t *testing.T) {
	file, folder := sandbox.Node{Kind: sandbox.NodeFile}, sandbox.Node{Kind: sandbox.NodeDirectory}
	want := []struct {
		change sandbox.Change
		class  sandbox.Class
	}{
		{sandbox.Change{Path: "src/a.go", Was: file, Is: file}, sandbox.Free},
		{sandbox.Change{Path: "src/gone.go", Was: file}, sandbox.Free},
		{sandbox.Change{Path: "docs/a.md", Is: file}, sandbox.Refused},
		{sandbox.Change{Path: "docs", Was: folder, Is: folder}, sandbox.Refused},
		{sandbox.Change{Path: "src/new", Is: folder, Whole: true}, sandbox.Free},
		{sandbox.Change{Path: "gen", Is: folder, Whole: true}, sandbox.Free}, // a file of it may be
		{sandbox.Change{Path: "gen/a.pb.go", Is: file}, sandbox.Free},
		{sandbox.Change{Path: "gen/a.txt", Is: file}, sandbox.Refused},
		{sandbox.Change{Path: "other", Is: folder, Whole: true}, sandbox.Refused},
		{sandbox.Change{Path: "src/old", Was: folder}, sandbox.Free},
		{sandbox.Change{Path: "gen/old.pb.go", Was: folder}, sandbox.Refused}, // with what is in it
		{sandbox.Change{Path: "src/.git/hooks/x", Is: file}, sandbox.Refused},
		{sandbox.Change{Path: "src/.vscode/tasks.json", Is: file}, sandbox.Asked},
		{sandbox.Change{Path: ".vscode/tasks.json", Is: file}, sandbox.Refused},
		{sandbox.Change{Path: ".git/index", Was: file, Is: file}, sandbox.Dropped}, // git looked at files
		{sandbox.Change{Path: "src/.git/index", Was: file, Is: file}, sandbox.Free},
		{sandbox.Change{Path: "docs/index", Was: file, Is: file}, sandbox.Refused},
	}
	var changes []sandbox.Change
	for _, w := range want {
		changes = append(changes, w.change)
	}
	project := t.TempDir()
	indexed := func(seen string) func(path string, most int) ([]byte, error) {
		return func(path string, _ int) ([]byte, error) {
			if !strings.HasSuffix(path, ".git/index") {
				return nil, errors.New("not there")
			}
			return []byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01" + seen + strings.Repeat("\x00", entryHead+2+indexSum-len(seen))), nil
		}
	}
	for _, dir := range []string{"src/old", "gen/old.pb.go"} {
		if err := os.MkdirAll(filepath.Join(project, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	rulings := judge{configured: &configured{}}.Rule("run", project, []string{"src/**", "gen/*.pb.go"}, changes, sandbox.Readers{After: indexed("now"), Before: indexed("before")})
	for i, w := range want {
		if rulings[i].Class != w.class {
			t.Errorf("%s: got %+v, want %d", w.change.Path, rulings[i], w.class)
		}
	}
}
