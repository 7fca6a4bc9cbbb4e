package protect

import (
	"fmt"
	"testing"
)

// TestLinksOutOfProtectedPlaces: what a link in a protected place leads to is
// protected as the place is.
func TestLinksOutOfProtectedPlaces(t *testing.T) {
	git := func(at string, more map[string]string) map[string]string {
		files := map[string]string{at + "/config": newConfig, at + "/HEAD": "ref: refs/heads/main\n", at + "/objects/": "", at + "/refs/": ""}
		for name, text := range more {
			files[name] = text
		}
		return files
	}
	for name, c := range map[string]struct {
		before, then map[string]string
		want         []string
	}{
		"a hook": {
			git(".git", map[string]string{".git/hooks/pre-commit": "-> ../../scripts/pre-commit.sh", "scripts/pre-commit.sh": "x", "scripts/other": "x"}),
			map[string]string{"scripts/pre-commit.sh": "y", "scripts/other": "y"}, []string{"refused scripts/pre-commit.sh"}},
		"a hook that is not there": {
			git(".git", map[string]string{".git/hooks/pre-commit": "-> ../../scripts/absent"}),
			map[string]string{"scripts/absent": "y"}, []string{"refused scripts/absent"}},
		"the folder that holds it": {
			git(".git", map[string]string{".git/hooks/pre-commit": "-> ../../scripts/pre-commit.sh", "scripts/pre-commit.sh": "x"}),
			map[string]string{"scripts": "gone"}, []string{"refused scripts"}},
		"the folder of hooks": {
			git(".git", map[string]string{".git/hooks": "-> ../githooks", "githooks/README": "x"}),
			map[string]string{"githooks/pre-commit": "y"}, []string{"refused githooks/pre-commit"}},
		"hooks that lead on": {
			git(".git", map[string]string{".git/hooks": "-> ../githooks", "githooks/pre-commit": "-> ../scripts/x", "scripts/x": "x"}),
			map[string]string{"scripts/x": "y"}, []string{"refused scripts/x"}},
		"configuration and attributes": {
			git(".git", map[string]string{".git/config": "-> ../conf/git", "conf/git": newConfig, ".git/info/attributes": "-> ../../conf/attributes", "conf/attributes": "x"}),
			map[string]string{"conf/git": "y", "conf/attributes": "y"}, []string{"refused conf/attributes", "refused conf/git"}},
		"a repository below": {
			git("lib/.git", map[string]string{"lib/.git/hooks/pre-commit": "-> ../../../scripts/x", "scripts/x": "x"}),
			map[string]string{"scripts/x": "y"}, []string{"refused scripts/x"}},
		"a repository that a file names": {
			git("repositories/a", map[string]string{"tree/.git": "gitdir: ../repositories/a\n", "repositories/a/hooks/pre-commit": "-> ../../../scripts/x", "scripts/x": "x"}),
			map[string]string{"scripts/x": "y"}, []string{"refused scripts/x"}},
		"a bare repository": {
			git("bare", map[string]string{"bare/hooks": "-> ../scripts", "scripts/x": "x"}),
			map[string]string{"scripts/x": "y"}, []string{"refused scripts/x"}},
		"settings of an agent": {
			map[string]string{".claude/settings.json": "-> ../conf/claude.json", "conf/claude.json": "{}"},
			map[string]string{"conf/claude.json": "y"}, []string{"refused conf/claude.json"}},
		"tasks of an editor": {
			map[string]string{".vscode/tasks.json": "-> ../conf/tasks.json", "conf/tasks.json": "{}"},
			map[string]string{"conf/tasks.json": "y"}, []string{"asked conf/tasks.json"}},
		"a protected folder below": {
			map[string]string{"app/.vscode": "-> ../shared/vscode", "shared/vscode/tasks.json": "{}"},
			map[string]string{"shared/vscode/tasks.json": "y"}, []string{"asked shared/vscode/tasks.json"}},
		"deep, on the way to the change": {
			map[string]string{"a/b/c/d/e/.vscode/tasks.json": "-> ../f/tasks.json", "a/b/c/d/e/f/tasks.json": "{}"},
			map[string]string{"a/b/c/d/e/f/tasks.json": "y"}, []string{"asked a/b/c/d/e/f/tasks.json"}},
		"a folder around it": {
			map[string]string{"app/.vscode/app": "-> ..", "app/.vscode/top": "-> ../..", "app/x": "x"},
			map[string]string{"app/x": "y"}, nil},
		"others' packages": {
			map[string]string{"node_modules/a/.vscode/tasks.json": "-> ../tasks.json", "node_modules/a/tasks.json": "x"},
			map[string]string{"node_modules/a/tasks.json": "y"}, nil},
		"out of the project": {
			map[string]string{".vscode/tasks.json": "-> ../../etc/tasks.json", ".vscode/x": "-> /etc/passwd", "etc/tasks.json": "x", "etc/passwd": "x"},
			map[string]string{"etc/tasks.json": "y", "etc/passwd": "y"}, nil},
		"of the change itself": {
			map[string]string{"conf/x": "x"},
			map[string]string{"conf/link": "-> x", "conf/x": "y", ".vscode/x": "-> ../conf/x"}, []string{"asked .vscode", "asked .vscode/x"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, c.before)
			s.put(c.then)
			s.want(name, Rules{}, c.want...)
		})
	}
}

func TestLinksOutOfFreedPlaces(t *testing.T) {
	s := newScene(t, map[string]string{".vscode/tasks.json": "-> ../conf/tasks.json", "conf/tasks.json": "{}"})
	s.put(map[string]string{"conf/tasks.json": "y"})
	s.want("freed", Rules{Free: []string{".vscode"}})
}

// TestSearchIsBounded: many folders are not all looked into, and those on the way
// to a change are.
func TestSearchIsBounded(t *testing.T) {
	files := map[string]string{}
	for i := range 2 * mostFolders {
		files[fmt.Sprintf("z%d/.vscode/tasks.json", i)] = "-> ../tasks.json"
		files[fmt.Sprintf("z%d/tasks.json", i)] = "x"
	}
	s := newScene(t, files)
	if found := (Rules{}).linked(s.before, nil); len(found) == 0 || len(found) > mostFolders {
		t.Errorf("%d links were found", len(found))
	}
	for i := range 2 * mostFolders {
		s.put(map[string]string{fmt.Sprintf("z%d/tasks.json", i): "y"})
	}
	if got := s.judged(Rules{}); len(got) != 2*mostFolders {
		t.Errorf("%d changes are asked", len(got))
	}
}
