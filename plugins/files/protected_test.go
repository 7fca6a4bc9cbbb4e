package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/protect"
)

func TestProtectedPathsAreRefused(t *testing.T) {
	files := map[string]string{
		"spare": "s", "sparefolder/hooks/pre-commit": "evil",
		".git/hooks/pre-commit": "true", ".git/config": "c", ".git/HEAD": "ref", ".bothy/agents.hcl": "a",
		".agents/skills/x/SKILL.md": "s", ".claude/skills/x/SKILL.md": "s", ".claude/settings.json": "{}", "bothy.lock": "l",
		"hooks": "-> .git/hooks", "gitdir": "-> .git", "conf": "-> .git/config", "lock": "-> bothy.lock",
		"a/b": "-> ../gitdir/hooks", "b": "-> .bothy",
	}
	names := []string{
		".git/hooks", ".git/hooks/pre-commit", ".git/hooks/new", ".git/hooks/new/deeper", ".git/config",
		".git/config.worktree", ".git/commondir", ".git/modules/m/hooks/pre-commit",
		".bothy", ".bothy/agents.hcl", ".bothy/new/x", ".agents", ".agents/skills/x/SKILL.md", "bothy.lock",
		".claude", ".claude/skills", ".claude/skills/x/SKILL.md", ".claude/skills/new/SKILL.md", ".Claude/Skills/new",
		".GIT/hooks/new", ".Git/Config", ".BOTHY/x", ".Agents/x", "Bothy.Lock", "bothy.loc\u212A", ".g\u200cit/hooks/x",
		".git", ".GIT", "./.git/../.git/hooks/x",
		".git/rebase-merge/git-rebase-todo", ".git/info/attributes", ".git/objects/info/alternates", ".git/refs/replace/x", ".git/HEAD", ".git/refs/heads/x", ".git/remotes/origin",
		".git/index", ".git/sequencer/todo", ".claude/settings.json", ".codex/config.toml", ".cursor/mcp.json", ".gemini/settings.json", "sub/.claude/x", ".bashrc", "sub/.zshenv", ".gitconfig",
		".config/fish/config.fish",
		"hooks/pre-commit", "hooks/new", "gitdir/hooks/new", "gitdir/config", "a/b/new", "b/agents.hcl",
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			tp := newProject(t, files)
			tp.unchangedBy(func() {
				for op, err := range tp.everyChange(name) {
					switch outcome := sdk.OutcomeOf(err); {
					case err == nil:
						t.Errorf("%s was done", op)
					case outcome == sdk.Permission:
						if !strings.Contains(err.Error(), "protected") && !strings.Contains(err.Error(), "holds") {
							t.Errorf("%s: %v", op, err)
						}
					case outcome == sdk.NotFound && (op == "edit" || op == "delete" || op == "move from"):
					default:
						t.Errorf("%s: outcome %s: %v", op, outcome, err)
					}
				}
			})
		})
	}
}

func TestProtectedPathsThroughFinalLinks(t *testing.T) {
	ctx := context.Background()
	tp := newProject(t, map[string]string{
		".git/config": "c", "bothy.lock": "l", "conf": "-> .git/config", "lock": "-> bothy.lock", "made": "-> .git/hooks",
		".git/HEAD": "ref", "attrs": "-> .git/info/attributes", "head": "-> .git/HEAD", ".git/info/": "",
	})
	tp.unchangedBy(func() {
		for _, name := range []string{"conf", "lock", "made", "made/pre-commit", "attrs", "head"} {
			_, err := tp.write(ctx, writeArgs{Path: name, Content: "evil"})
			wantOutcome(t, err, sdk.Permission, "protected")
		}
		_, err := tp.create(ctx, createArgs{Path: "made"})
		wantOutcome(t, err, sdk.Permission, "protected")
	})
	// The link itself is not protected: nothing behind it changes.
	if _, err := tp.delete(ctx, deleteArgs{Path: "conf"}); err != nil || tp.get(".git/config") != "c" {
		t.Errorf("deleting a link gave %v and left %q", err, tp.get(".git/config"))
	}
}

func TestProtectedPathsCannotBePlanted(t *testing.T) {
	tp := newProject(t, map[string]string{"spare": "s", "sparefolder/hooks/pre-commit": "evil"})
	tp.unchangedBy(func() {
		for _, name := range []string{".git", ".git/hooks/pre-commit", ".git/HEAD", ".bothy/x", ".agents", "bothy.lock"} {
			for op, err := range tp.everyChange(name) {
				if err == nil || sdk.OutcomeOf(err) != sdk.Permission && sdk.OutcomeOf(err) != sdk.NotFound {
					t.Errorf("%s of %s: %v", op, name, err)
				}
			}
		}
	})
}

// The project's own repository is not the only one that git obeys.
func TestRepositoriesBelowAreProtected(t *testing.T) {
	tp := newProject(t, map[string]string{
		"spare": "s", "sparefolder/x": "x", "sub/.git/config": "c", "sub/.git/HEAD": "ref", "sub/x": "x",
		"tree/.git": "gitdir: ../sub/.git", "bare/HEAD": "ref", "bare/objects/x": "o", "bare/refs/x": "r", "bare/hooks/pre": "h",
		"two/HEAD": "ref", "two/objects/x": "o", "three/HEAD": "ref", "four/commondir": "../e", "four/config": "evil", "new/x": "x",
	})
	tp.unchangedBy(func() {
		for _, name := range []string{
			"sub/.git/config", "sub/.git/hooks/x", "sub/.git/commondir", "sub/.git/modules/m/config", "sub/.git", "sub/.GIT/Config",
			"tree/.git", "new/.git", "new/.git/config", "new/.git/HEAD", "bare/config", "bare/hooks/pre", "bare/hooks/new",
			"two/refs", "two/refs/x", "three/commondir", "four/HEAD", ".git/commondir", ".git/worktrees/x", ".git/config.worktree",
		} {
			for op, err := range tp.everyChange(name) {
				if err == nil || sdk.OutcomeOf(err) != sdk.Permission && sdk.OutcomeOf(err) != sdk.NotFound {
					t.Errorf("%s of %s: %v", op, name, err)
				}
			}
		}
	})
	for _, name := range []string{"sub/x", "bare/HEAD", "bare/description", "three/config", "two/x"} {
		if _, err := tp.write(context.Background(), writeArgs{Path: name, Content: "fine"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatConfigurationNamesIsProtected(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[core]\nhooksPath = everywhere\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tp := newProject(t, map[string]string{
		"spare": "s", "sparefolder/x": "x", ".git/config": "[include]\npath = ../team/git.cfg\n", "team/git.cfg": "[core]\nhooksPath = .husky/_\n",
		".husky/_/pre-commit": "true", "lib/.git/config": "[core]\nhooksPath = mine\n", "lib/mine/pre-commit": "true", "mine/x": "x",
	})
	tp.unchangedBy(func() {
		for _, name := range []string{"team/git.cfg", ".husky/_/pre-commit", ".husky/_/new", ".husky", "everywhere/x", "lib/mine/new", "lib/everywhere/x"} {
			for op, err := range tp.everyChange(name) {
				if err == nil || sdk.OutcomeOf(err) != sdk.Permission && sdk.OutcomeOf(err) != sdk.NotFound {
					t.Errorf("%s of %s: %v", op, name, err)
				}
			}
		}
	})
	for _, name := range []string{"team/other", ".husky/pre-commit", "mine/x"} {
		if _, err := tp.write(context.Background(), writeArgs{Path: name, Content: "fine"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Where a project holds Bothy itself, as somebody's home does, what is written
// there would be obeyed on the host.
func TestBothyItselfIsProtected(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", "")
	tp := newProject(t, map[string]string{
		"spare": "s", "sparefolder/x": "x", ".config/bothy/config.hcl": "c", "state/bothy/bothy.db": "d", "build/libexec/bothy/bothy-plugin-x": "p", "build/bin/other": "o",
	})
	t.Setenv("HOME", tp.dir)
	tp.rules.Bothy = protect.BothyPaths(filepath.Join(tp.dir, "state/bothy"), filepath.Join(tp.dir, "build"))
	tp.unchangedBy(func() {
		for _, name := range []string{
			".config/bothy/config.hcl", ".config/bothy", ".config", "state/bothy/bothy.db", "state", "build/libexec/bothy/bothy-plugin-x", "build/bin/bothyd", "build",
		} {
			for op, err := range tp.everyChange(name) {
				if err == nil || sdk.OutcomeOf(err) != sdk.Permission && sdk.OutcomeOf(err) != sdk.NotFound {
					t.Errorf("%s of %s: %v", op, name, err)
				}
			}
		}
	})
	for _, name := range []string{".config/other", "build/bin/other"} {
		if _, err := tp.write(context.Background(), writeArgs{Path: name, Content: "fine"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	tp.rules.Bothy = []string{filepath.Dir(tp.dir)}
	_, err := tp.write(context.Background(), writeArgs{Path: "new", Content: "x"})
	wantOutcome(t, err, sdk.Permission, "Bothy's own")
}

// A worktree has a file .git that names the folder; changing it would lead git
// to hooks and a configuration of the model's own.
func TestGitFileIsProtected(t *testing.T) {
	tp := newProject(t, map[string]string{".git": "gitdir: elsewhere", "spare": "s", "sparefolder/x": "x"})
	tp.unchangedBy(func() {
		for op, err := range tp.everyChange(".git") {
			if err == nil || sdk.OutcomeOf(err) != sdk.Permission {
				t.Errorf("%s: %v", op, err)
			}
		}
	})
}

// Where a protected path is itself a link, what it leads to is protected too,
// and so are the folders and links on the way.
func TestWhatProtectedPathsLeadToIsProtected(t *testing.T) {
	tp := newProject(t, map[string]string{
		".git": "-> first", "first": "-> store/git", "store/git/config": "c", "store/git/HEAD": "ref",
		"store/git/hooks": "-> ../../githooks", "githooks/pre-commit": "true", ".agents": "-> shared", "shared/x": "x",
		"spare": "s", "sparefolder/x": "x",
	})
	for _, name := range []string{
		".git", "first", "store", "store/git", "store/git/config", "store/git/hooks", "githooks", "githooks/pre-commit",
		"githooks/new", ".agents", "shared", "shared/x",
	} {
		tp.unchangedBy(func() {
			for op, err := range tp.everyChange(name) {
				if err == nil || sdk.OutcomeOf(err) == sdk.Internal {
					t.Errorf("%s of %s: %v", op, name, err)
				}
			}
		})
	}
	_, err := tp.write(context.Background(), writeArgs{Path: "store/git/HEAD", Content: "other"})
	wantOutcome(t, err, sdk.Permission, "protected")
}

// A folder that holds what a protected path leads to can be moved no more than
// .git itself.
func TestFoldersAboveWhatIsProtected(t *testing.T) {
	tp := newProject(t, map[string]string{
		".git": "-> store/deep/git", "store/deep/git/config": "c", "store/deep/git/hooks/pre-commit": "true", "spare": "s", "sparefolder/x": "x",
	})
	tp.unchangedBy(func() {
		for _, name := range []string{"store", "store/deep", "store/deep/git"} {
			for op, err := range tp.everyChange(name) {
				if err == nil || sdk.OutcomeOf(err) != sdk.Permission {
					t.Errorf("%s of %s: %v", op, name, err)
				}
			}
		}
	})
	if _, err := tp.write(context.Background(), writeArgs{Path: "store/deep/other", Content: "x"}); err != nil {
		t.Error(err)
	}
}

// A hard link, like a bind mount or a file system without case, is another name
// of the same thing.
func TestProtectedFilesAreKnownByWhatTheyAre(t *testing.T) {
	tp := newProject(t, map[string]string{".git/config": "c"})
	if err := os.Link(filepath.Join(tp.dir, ".git/config"), filepath.Join(tp.dir, "alias")); err != nil {
		t.Fatal(err)
	}
	_, err := tp.write(context.Background(), writeArgs{Path: "alias", Content: "evil"})
	wantOutcome(t, err, sdk.Permission, "protected")

	// A folder that is .bothy under another name, as a bind mount would be.
	tp.put(".bothy/x", "y")
	g, err := tp.protection(".")
	if err != nil {
		t.Fatal(err)
	}
	inside, err := tp.existing(".bothy/x", lookup{})
	if err != nil {
		t.Fatal(err)
	}
	defer inside.close()
	inside.path = "mounted/x"
	wantOutcome(t, g.check(inside), sdk.Permission, "protected", ".bothy")
}

func TestProtectedPathsCanBeRead(t *testing.T) {
	ctx := context.Background()
	tp := newProject(t, map[string]string{".git/config": "c\n", ".bothy/x": "y", "spare": "s"})
	if got, err := tp.read(ctx, readArgs{Path: ".git/config"}); err != nil || got.text != "c\n" {
		t.Errorf("%q, %v", got.text, err)
	}
	if _, err := tp.copy(ctx, moveArgs{Source: ".bothy", Destination: "copy"}); err != nil || tp.get("copy/x") != "y" {
		t.Error(err)
	}
	for _, name := range []string{".gitignore", ".github/x", "src/config", "src/hooks/x", "HEAD", "objects/x", "bothy.lock.md", "xbothy.lock", ".bothyrc"} {
		if _, err := tp.write(ctx, writeArgs{Path: name, Content: "fine"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a link in a protected place leads to is protected as the place is.
func TestLinksOutOfProtectedPlacesAreGuarded(t *testing.T) {
	tp := newProject(t, map[string]string{
		"spare": "s", "sparefolder/x": "x", ".git/HEAD": "ref", ".git/config": "", ".git/hooks/pre-commit": "-> ../../scripts/hook.sh", "scripts/hook.sh": "x", "scripts/other": "x",
		".claude/settings.json": "-> ../conf/claude.json", "conf/claude.json": "{}", "app/.claude": "-> ../shared/claude", "shared/claude/x": "{}",
	})
	tp.unchangedBy(func() {
		for _, name := range []string{"scripts/hook.sh", "conf/claude.json", "shared/claude/x", "shared/claude/new", "scripts", "shared"} {
			for op, err := range tp.everyChange(name) {
				if err == nil || sdk.OutcomeOf(err) != sdk.Permission && sdk.OutcomeOf(err) != sdk.NotFound {
					t.Errorf("%s of %s: %v", op, name, err)
				}
			}
		}
	})
	if _, err := tp.write(context.Background(), writeArgs{Path: "scripts/other", Content: "fine"}); err != nil {
		t.Error(err)
	}
}
