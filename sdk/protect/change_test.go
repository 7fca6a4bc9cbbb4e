package protect

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// scene is a project, and what a command made of it, as trees of their own.
type scene struct {
	t           *testing.T
	before, now string
}

func newScene(t *testing.T, files map[string]string) *scene {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	s := &scene{t, t.TempDir(), t.TempDir()}
	s.put(files)
	s.commit()
	return s
}

// put writes files, links ("-> target") and folders (a slash at the end), and
// removes those whose text is "gone".
func (s *scene) put(files map[string]string) {
	s.t.Helper()
	for name, text := range files {
		at := filepath.Join(s.now, name)
		target, link := strings.CutPrefix(text, "-> ")
		err := os.MkdirAll(filepath.Dir(at), 0o755)
		switch {
		case err != nil:
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(at, 0o755)
		case text == "gone":
			err = os.RemoveAll(at)
		case link:
			err = errors.Join(os.RemoveAll(at), os.Symlink(target, at))
		default:
			err = os.WriteFile(at, []byte(text), 0o644)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// commit makes of what is there now what was before.
func (s *scene) commit() {
	s.t.Helper()
	if err := os.RemoveAll(s.before); err != nil {
		s.t.Fatal(err)
	}
	if err := os.CopyFS(s.before, os.DirFS(s.now)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) git(args ...string) {
	s.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@y", "-c", "commit.gpgsign=false", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = s.now
	cmd.Env = append(os.Environ(), "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true")
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func kindOf(mode fs.FileMode) Kind {
	switch mode.Type() {
	case 0:
		return File
	case fs.ModeDir:
		return Directory
	case fs.ModeSymlink:
		return Link
	}
	return Other
}

// changes are how the two trees differ, parents first.
func (s *scene) changes() (all []Change) {
	s.t.Helper()
	tree := func(root string) map[string]Kind {
		kinds := map[string]Kind{}
		err := filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
			if rel, _ := filepath.Rel(root, at); err == nil && rel != "." {
				kinds[rel] = kindOf(d.Type())
			}
			return err
		})
		if err != nil {
			s.t.Fatal(err)
		}
		return kinds
	}
	was, is := tree(s.before), tree(s.now)
	var paths []string
	for at := range was {
		paths = append(paths, at)
	}
	for at := range is {
		if was[at] == Nothing {
			paths = append(paths, at)
		}
	}
	slices.Sort(paths)
	gone := "\x00"
	for _, at := range paths {
		c := Change{Path: at, Was: was[at], Is: is[at], Whole: was[at] != Directory && is[at] == Directory}
		c.Read = func() ([]byte, error) { return os.ReadFile(filepath.Join(s.now, at)) }
		c.ReadBefore = func() ([]byte, error) { return os.ReadFile(filepath.Join(s.before, at)) }
		switch {
		case strings.HasPrefix(at, gone+"/"):
			continue // a folder that goes is one change
		case c.Was == Directory && c.Is != Directory:
			gone = at
		case c.Was == c.Is && c.Is == Directory:
			continue
		case c.Was == c.Is && c.Is == File:
			a, _ := c.Read()
			b, _ := c.ReadBefore()
			if string(a) == string(b) {
				continue
			}
		case c.Was == c.Is && c.Is == Link:
			a, _ := os.Readlink(filepath.Join(s.now, at))
			b, _ := os.Readlink(filepath.Join(s.before, at))
			if a == b {
				continue
			}
		}
		all = append(all, c)
	}
	return all
}

// judged are the changes that are not free, as "CLASS PATH".
func (s *scene) judged(r Rules) (all []string) {
	s.t.Helper()
	changes := s.changes()
	for i, f := range r.Changes(s.before, changes) {
		if f.Class > Free {
			all = append(all, f.Class.String()+" "+changes[i].Path)
		}
	}
	return all
}

func (s *scene) want(what string, r Rules, want ...string) {
	s.t.Helper()
	if got := s.judged(r); !slices.Equal(got, want) {
		s.t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

const newConfig = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"

// TestChangesByName: what has a class by its name has it as a change too, made,
// changed and removed.
func TestChangesByName(t *testing.T) {
	for at, class := range map[string]string{
		".bothy/config.hcl": "refused", "sub/.claude/settings.json": "refused", ".codex/config.toml": "refused", ".bashrc": "refused", "bothy.lock": "refused",
		".config/fish/config.fish": "refused", ".vscode/tasks.json": "asked", "a/.mcp.json": "asked", ".envrc": "asked", ".husky/pre-commit": "asked", ".npmrc": "asked",
		".github/workflows/ci.yml": "asked", ".pre-commit-config.yaml": "asked", ".gitmodules": "asked", "Makefile": "", "src/config": "", "hooks/x": "", "node_modules/a/.vscode/x": "",
	} {
		s := newScene(t, nil)
		s.put(map[string]string{at: "one"})
		wants := func(what string) {
			t.Helper()
			got := slices.DeleteFunc(s.judged(Rules{}), func(line string) bool { return !strings.HasSuffix(line, " "+at) })
			if want := class + " " + at; class == "" && got != nil && len(got) > 0 || class != "" && !slices.Equal(got, []string{want}) {
				t.Errorf("%s %s: got %q", what, at, got)
			}
		}
		wants("make")
		s.commit()
		s.put(map[string]string{at: "two"})
		wants("change")
		s.put(map[string]string{at: "gone"})
		wants("remove")
	}
}

// TestRepositoriesOfGit: what ordinary git does is free, begun and ended in one
// command, and what a new repository's configuration says too.
func TestRepositoriesOfGit(t *testing.T) {
	s := newScene(t, map[string]string{"a.txt": "one\n"})
	s.git("init", "-q", "--template=", ".")
	s.want("init", Rules{})
	s.commit()
	s.git("add", ".")
	s.git("commit", "-qm", "one")
	s.want("commit", Rules{})
	s.commit()
	s.git("switch", "-qc", "topic")
	s.put(map[string]string{"b.txt": "two\n"})
	s.git("add", ".")
	s.git("commit", "-qm", "two")
	s.git("switch", "-q", "main")
	s.put(map[string]string{"c.txt": "three\n"})
	s.git("add", ".")
	s.git("commit", "-qm", "three")
	s.put(map[string]string{"a.txt": "four\n"})
	s.git("stash")
	s.git("rebase", "-q", "topic")
	s.git("stash", "pop", "-q")
	s.git("tag", "v1")
	s.git("gc", "-q")
	s.want("switch, stash, rebase, tag, gc", Rules{})
	s.commit()
	s.git("clone", "-q", "--template=", ".", "sub/copy")
	s.want("clone", Rules{}, "asked sub/copy/.git/config")
	s.put(map[string]string{"sub": "gone"})
	s.git("clone", "-q", "--bare", "--template=", ".", "sub/bare.git")
	s.want("clone --bare", Rules{}, "asked sub/bare.git/config")
	s.put(map[string]string{"sub": "gone"})
	s.git("init", "-q", "--bare", "--template=", "sub/bare.git")
	s.want("init --bare", Rules{})
	s.commit()
	s.put(map[string]string{"sub": "gone"})
	s.want("a folder with a repository goes", Rules{}, "asked sub")
	s.commit()
	s.git("remote", "add", "origin", "https://example.org/x.git")
	s.git("branch", "-q", "other")
	s.git("config", "branch.other.remote", "origin")
	s.git("config", "branch.other.merge", "refs/heads/other")
	s.want("a server and a branch", Rules{}, "asked .git/config")
	s.git("config", "user.email", "x@y")
	s.want("a name", Rules{}, "refused .git/config")
}

// TestWhatGitObeys has each thing that git obeys in a repository, made in one that
// is there, in a new one, below and bare.
func TestWhatGitObeys(t *testing.T) {
	for _, name := range []string{
		"hooks/pre-commit", "config.worktree", "commondir", "worktrees/w/gitdir", "modules/m/config", "remotes/origin", "branches/x",
		"info/attributes", "info/grafts", "objects/info/alternates", "objects/info/http-alternates", "rebase-merge/git-rebase-todo", "rebase-apply/patch",
		"sequencer/todo", "refs/replace/0123",
	} {
		for _, folder := range []string{".git", "sub/.git", "sub/bare"} {
			there := map[string]string{folder + "/HEAD": "ref: refs/heads/main\n", folder + "/objects/": "", folder + "/refs/heads/": "", folder + "/config": newConfig}
			for _, there := range []map[string]string{there, {}} {
				s := newScene(t, there)
				s.put(map[string]string{folder + "/HEAD": "ref: refs/heads/main\n", folder + "/objects/": "", folder + "/refs/heads/": "", folder + "/config": newConfig})
				s.want("nothing else", Rules{})
				s.put(map[string]string{folder + "/" + name: "x"})
				if got := s.judged(Rules{}); !slices.Contains(got, "refused "+folder+"/"+name) || slices.ContainsFunc(got, func(l string) bool { return strings.HasSuffix(l, "HEAD") }) {
					t.Errorf("%s/%s: got %q", folder, name, got)
				}
			}
		}
	}
	// Elsewhere such names are ordinary.
	s := newScene(t, nil)
	s.put(map[string]string{"hooks/x": "", "config": "", "modules/x": "", "info/attributes": "", "refs/replace/x": "", "HEAD": "", "branches/x": ""})
	s.want("no repository", Rules{})
}

// TestRepositoriesThatBecome: a folder with a configuration of its own becomes no
// repository, in whatever order it is made one.
func TestRepositoriesThatBecome(t *testing.T) {
	evil := "[core]\n\tfsmonitor = ./evil\n"
	for what, c := range map[string]struct {
		before, now map[string]string
		want        []string
	}{
		"the head last":       {map[string]string{"b/config": evil, "b/objects/": "", "b/refs/": ""}, map[string]string{"b/HEAD": "x"}, []string{"refused b/HEAD"}},
		"the objects last":    {map[string]string{"b/config": evil, "b/HEAD": "x", "b/refs/": ""}, map[string]string{"b/objects/aa/x": "x"}, []string{"refused b/objects", "refused b/objects/aa", "refused b/objects/aa/x"}},
		"by another's folder": {map[string]string{"b/config": evil, "b/HEAD": "x"}, map[string]string{"b/commondir": "."}, []string{"refused b/commondir"}},
		"all at once":         {nil, map[string]string{"b/HEAD": "x", "b/config": evil, "b/objects/": "", "b/refs/": ""}, []string{"refused b/config"}},
		"the project itself":  {map[string]string{"config": evil, "objects/": "", "refs/": ""}, map[string]string{"HEAD": "x"}, []string{"refused HEAD"}},
		"the settings last":   {map[string]string{"b/HEAD": "x", "b/objects/": "", "b/refs/": ""}, map[string]string{"b/config": evil}, []string{"refused b/config"}},
		"a file .git":         {nil, map[string]string{"a/.git": "gitdir: ../b"}, []string{"refused a/.git"}},
		"a link .git":         {nil, map[string]string{".git": "-> b"}, []string{"refused .git"}},
		"a file in its place": {map[string]string{".git/HEAD": "x", ".git/config": newConfig}, map[string]string{".git": "gone"}, []string{"refused .git"}},
		"links in it": {map[string]string{".git/HEAD": "x", ".git/config": newConfig, ".git/logs/HEAD": "x"}, map[string]string{".git/logs/HEAD": "-> ../../../.bashrc", ".git/ORIG_HEAD": "-> /x", ".git/info": "-> ../x"},
			[]string{"refused .git/ORIG_HEAD", "refused .git/info", "refused .git/logs/HEAD"}},
		"packed replacements": {map[string]string{".git/packed-refs": "a refs/heads/x\n"}, map[string]string{".git/packed-refs": "a refs/heads/y\nb refs/replace/c\n"}, []string{"refused .git/packed-refs"}},
		"packed":              {map[string]string{".git/packed-refs": "a refs/heads/x\nb refs/replace/c\n"}, map[string]string{".git/packed-refs": "a refs/heads/y\nb refs/replace/c\n"}, nil},
		"a repository goes":   {map[string]string{"lib/.git/HEAD": "x", "lib/x": "x"}, map[string]string{"lib": "gone"}, []string{"asked lib"}},
		"only its .git goes":  {map[string]string{"lib/.git/HEAD": "x", "lib/x": "x"}, map[string]string{"lib/.git": "gone"}, []string{"refused lib/.git"}},
	} {
		s := newScene(t, c.before)
		s.put(c.now)
		s.want(what, Rules{}, c.want...)
	}
}

// TestAnotherRepositoryInItsPlace: a .git whose folder is another one is refused
// with all that lies in it, so that nothing of two is mixed.
func TestAnotherRepositoryInItsPlace(t *testing.T) {
	s := newScene(t, map[string]string{".git/HEAD": "x", ".git/config": newConfig})
	for _, f := range (Rules{}).Changes(s.before, []Change{
		{Path: ".git", Was: Directory, Is: Directory, Whole: true}, {Path: ".git/HEAD", Was: File, Is: File}, {Path: ".git/index", Is: File},
	}) {
		if f.Class != Refused {
			t.Errorf("got %+v", f)
		}
	}
	for _, f := range (Rules{}).Changes(s.before, []Change{{Path: ".git", Was: Directory, Is: Directory}, {Path: ".git/index", Is: File}}) {
		if f.Class != Free {
			t.Errorf("of another mode: %+v", f)
		}
	}
}

// TestWhatConfigurationNames: files that are included and hooks are refused,
// programs are asked, and so is where links in their place lead.
func TestWhatConfigurationNames(t *testing.T) {
	s := newScene(t, map[string]string{
		".git/HEAD": "x", ".git/config": "[include]\npath = ../team/git.cfg\n[diff \"x\"]\ntextconv = ./tools/conv.sh --deep\n[filter \"f\"]\nclean = python3 clean.py\nprocess = tools/absent.sh\n" +
			"[alias]\ng = !scripts/g.sh && echo src\nst = status\n[core]\nfsmonitor = true\n[gpg]\nprogram = bin/gpg\n",
		"team/git.cfg": "[core]\nhooksPath = .husky/_\n", ".husky/_/pre-commit": "x", "tools/conv.sh": "x", "clean.py": "x", "src/main.go": "x", "scripts/g.sh": "-> ../real/g.sh", "real/g.sh": "x",
		"lib/.git/config": "[merge \"m\"]\ndriver = ./merge.sh %A\n", "lib/merge.sh": "x", "python3": "x", "true": "x", "bin/other": "x",
		".claude": "-> shared/claude", "shared/claude/x": "x", ".vscode": "-> editor", "editor/x": "x", "elsewhere/x": "x",
	})
	s.put(map[string]string{
		"team/git.cfg": "y", ".husky/_/pre-commit": "y", "tools/conv.sh": "y", "clean.py": "y", "tools/absent.sh": "y", "real/g.sh": "y", "lib/merge.sh": "y", "bin/gpg": "y",
		"src/main.go": "y", "python3": "y", "true": "y", "status": "y", "shared/claude/x": "y", "editor/x": "y", "elsewhere/x": "y", "team/other": "y",
	})
	s.want("programs", Rules{}, "refused .husky/_/pre-commit", "asked bin/gpg", "asked clean.py", "asked editor/x", "asked lib/merge.sh", "asked real/g.sh", "refused shared/claude/x",
		"refused team/git.cfg", "asked tools/absent.sh", "asked tools/conv.sh")
	s.put(map[string]string{"team": "gone", ".husky": "gone", "shared": "gone", "tools": "gone", "real": "-> elsewhere"})
	s.want("what holds them", Rules{}, "refused .husky", "asked bin/gpg", "asked clean.py", "asked editor/x", "asked lib/merge.sh", "asked real", "refused shared", "refused team", "asked tools")
}

func TestAttributes(t *testing.T) {
	for text, want := range map[string]string{
		"* text=auto eol=lf\n*.png binary\n*.x -diff\n# filter=x\n": "", "*.x filter=lfs diff=lfs\n": "asked", "*.go diff=golang": "asked", "[attr]a merge=union": "asked",
		"*.x\tFilter=y": "asked", "": "", " # diff=x\n*.y merge=m": "asked",
	} {
		s := newScene(t, nil)
		s.put(map[string]string{"a/.gitattributes": text})
		got := strings.Join(s.judged(Rules{}), ",")
		if want != "" {
			want += " a/.gitattributes"
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if f := (Rules{}).Changes(t.TempDir(), []Change{{Path: ".gitattributes", Is: File}}); f[0].Class != Asked {
		t.Errorf("what cannot be read: %+v", f)
	}
	if f := (Rules{}).Changes(t.TempDir(), []Change{{Path: ".gitattributes", Was: File}}); f[0].Class != Free {
		t.Errorf("what goes: %+v", f)
	}
}

// TestBothysOwn: what Bothy is made of is refused wherever it lies, and no list
// frees it.
func TestBothysOwn(t *testing.T) {
	s := newScene(t, map[string]string{"state/bothy/db": "x", "other": "x"})
	s.put(map[string]string{"state/bothy/db": "y", "other": "y"})
	r := Rules{Bothy: []string{filepath.Join(s.before, "state/bothy")}, Free: []string{"state/bothy", "**"}}
	s.want("its data", r, "refused state/bothy/db")
	s.put(map[string]string{"state": "gone"})
	s.want("what holds it", r, "refused state")
	s.want("a project in it", Rules{Bothy: []string{filepath.Dir(s.before)}}, "refused other", "refused state")
}

// TestFolders: a folder that is made holds nothing, and one that goes holds what
// is in it.
func TestFolders(t *testing.T) {
	s := newScene(t, map[string]string{".config/other": "x", "home/.config/fish/x": "x", ".github/workflows/ci.yml": "x", "node_modules/a/.github/workflows/x": "x"})
	s.put(map[string]string{"new/.config/": "", "new/.github/": ""})
	s.want("made", Rules{})
	s.put(map[string]string{".config": "gone", "home/.config": "gone", ".github": "gone", "node_modules": "gone", "new": "gone"})
	s.want("gone", Rules{}, "asked .github", "refused home/.config")
	s.put(map[string]string{"z/.config": "-> ../x"})
	s.want("a link", Rules{}, "asked .github", "refused home/.config", "refused z/.config")
}

// TestFoldersThatGo: a folder that goes, or that another one takes the place of, with
// something protected in it is asked about, and one of packages is not.
func TestFoldersThatGo(t *testing.T) {
	for _, c := range []struct {
		in    string
		rules Rules
		want  []string
	}{
		{in: "sub/deep/.git/HEAD", want: []string{"asked sub"}},
		{in: "sub/.GIT", want: []string{"asked sub"}},
		{in: "sub/deep/.claude/settings.json", want: []string{"asked sub"}},
		{in: "sub/.vscode/tasks.json", want: []string{"asked sub"}},
		{in: "sub/deep/.config/fish/config.fish", want: []string{"asked sub"}},
		{in: "sub/lefthook.yml", want: []string{"asked sub"}},
		{in: "sub/node_modules/a/.claude/x"},
		{in: "node_modules/a/.git/HEAD"},
		{in: "sub/HEAD"},
		{in: "sub/src/main.go"},
		{in: "sub/.vscode/x", rules: Rules{Free: []string{".vscode"}}},
		{in: "sub/deep/secrets/x", rules: Rules{Refuse: []string{"secrets"}}, want: []string{"asked sub"}},
	} {
		s := newScene(t, map[string]string{c.in: "x", "sub/other/f": "x"})
		s.put(map[string]string{"sub": "gone", "node_modules": "gone"})
		s.want(c.in, c.rules, c.want...)
	}
	s := newScene(t, map[string]string{"sub/x.git/HEAD": "x", "sub/x.git/objects/": "", "sub/x.git/refs/": ""})
	s.put(map[string]string{"sub": "gone"})
	s.want("a repository under a name of its own", Rules{}, "asked sub")
	found := Rules{}.Changes(s.before, []Change{{Path: "sub", Was: Directory, Is: Directory, Whole: true}})
	if found[0].Class != Asked || found[0].Name != "sub/x.git" {
		t.Errorf("another folder in its place: %+v", found[0])
	}
}

// TestReftable: references that are kept in tables are not read, so that a person is
// asked about a change of them.
func TestReftable(t *testing.T) {
	s := newScene(t, map[string]string{".git/HEAD": "ref: refs/heads/.invalid\n", ".git/config": newConfig, ".git/objects/": "", ".git/refs/heads": "x"})
	s.put(map[string]string{".git/reftable/": "", ".git/reftable/tables.list": "0x01.ref\n", ".git/reftable/0x01.ref": "REFT", "reftable/x": "free"})
	s.want("a commit", Rules{}, "asked .git/reftable/0x01.ref", "asked .git/reftable/tables.list")
}
