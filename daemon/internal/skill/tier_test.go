package skill

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func TestWorkspaceFolders(t *testing.T) {
	t.Parallel()
	dir := realDir(t)
	home := filepath.Join(dir, "home")
	for _, p := range []string{"home/repo/.git", "home/repo/a/b", "home/loose/c", "elsewhere/.git", "elsewhere/d"} {
		mkdir(t, filepath.Join(dir, p))
	}
	for project, want := range map[string][]string{
		"home/repo":     {"home/repo"},
		"home/repo/a/b": {"home/repo/a/b", "home/repo/a", "home/repo"},
		"home/loose/c":  {"home/loose/c"},
		"elsewhere/d":   {"elsewhere/d", "elsewhere"},
		"gone/x":        {"gone/x"},
	} {
		var got []string
		for _, f := range workspaceFolders(filepath.Join(dir, project), home, Settings{Workspace: []string{".bothy/skills", ".agents/skills"}}) {
			rel, _ := filepath.Rel(dir, f.Path)
			got = append(got, rel)
			if bound, _ := filepath.Rel(dir, f.Bound); bound != want[len(want)-1] {
				t.Errorf("%s: bound to %s", project, bound)
			}
		}
		var all []string
		for _, w := range want {
			all = append(all, w+"/.bothy/skills", w+"/.agents/skills")
		}
		if !slices.Equal(got, all) {
			t.Errorf("%s: %v", project, got)
		}
	}
	mkdir(t, filepath.Join(home, ".git")) // of the dotfiles
	if got := workspaceFolders(filepath.Join(home, "loose", "c"), home, Settings{Workspace: []string{"x"}}); len(got) != 1 {
		t.Errorf("the home directory became a project: %v", got)
	}
}

// TestHomeAsProject has what lies in the home count once, as the user's, also
// where a link leads to the home or the project is inside of it.
func TestHomeAsProject(t *testing.T) {
	t.Parallel()
	dir := realDir(t)
	home, link := filepath.Join(dir, "home"), filepath.Join(dir, "link")
	mkdir(t, home)
	symlink(t, home, link)
	lay(t, filepath.Join(home, ".claude", "skills"), "one", "first")
	lay(t, filepath.Join(home, ".bothy", "skills"), "two", "of the project")
	mkdir(t, filepath.Join(home, "loose"))
	mkdir(t, filepath.Join(home, ".git")) // of the dotfiles
	h := newTestLibrary(t, Settings{
		Folders:   []Folder{{Tier: sdk.TierUser, Path: filepath.Join(link, ".agents", "skills")}, {Tier: sdk.TierUser, Path: filepath.Join(link, ".claude", "skills")}},
		Workspace: []string{".bothy/skills", ".agents/skills", ".claude/skills"},
	}, Options{Home: link})
	for project, want := range map[string][]string{home: {"one", "two"}, filepath.Join(home, "loose"): {"one"}} {
		var got []string
		for _, d := range h.now(project).All() {
			got = append(got, d.Name)
		}
		if !slices.Equal(got, want) || !slices.Equal(usable(h.now(project)), []string{"one"}) {
			t.Errorf("%s has\n%s", project, describe(h.now(project)))
		}
	}
	// What counts for all no more is the project's alone.
	h.Configure(Settings{Folders: []Folder{}, Workspace: []string{".claude/skills"}})
	h.awaitIn(home, "the project's", func(c *Catalogue) bool {
		all := c.All()
		return len(all) == 1 && all[0].Tier == sdk.TierWorkspace && all[0].Status == sdk.SkillUntrusted
	})
}

func TestConfigure(t *testing.T) {
	t.Parallel()
	h := newTestLibrary(t, Settings{}, Options{})
	lay(t, h.user, "one", "first")
	lay(t, filepath.Join(h.dir, "more"), "two", "second")
	h.has("one")
	on, off := true, false
	user, more := Folder{Tier: sdk.TierUser, Path: h.user}, Folder{Tier: sdk.TierBundled, Path: filepath.Join(h.dir, "more")}
	enabled := map[string]*bool{"one": &off}
	s := Settings{Folders: []Folder{user, more}, Enabled: func(name string) *bool { return enabled[name] }}
	h.Configure(s)
	c, err := h.Catalogue(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(usable(c), []string{"two"}) || c.Named("one")[0].Status != sdk.SkillDisabled {
		t.Errorf("the catalogue behind Configure:\n%s", describe(c))
	}
	lay(t, filepath.Join(h.dir, "more"), "one", "below")
	h.await("what is disabled keeps its name", func(c *Catalogue) bool {
		all := c.Named("one")
		return len(all) == 2 && all[0].Status == sdk.SkillDisabled && all[1].Status == sdk.SkillShadowed && slices.Equal(usable(c), []string{"two"})
	})
	enabled["one"] = &on
	write(t, filepath.Join(h.user, "one", "SKILL.md"), "---\nname: one\ndescription: It.\nenabled: false\n---\ntext\n")
	h.Configure(s)
	h.reads("one", "text") // the block goes before the file
	delete(enabled, "one")
	h.Configure(s)
	h.has("two")
}

// TestOffered: what agents found elsewhere is of the workspace tier, after its folders, and of its project alone; without that
// tier there is none.
func TestOffered(t *testing.T) {
	dir := t.TempDir()
	s := Settings{Workspace: []string{".bothy/skills"}, Offered: func(project string) string { return filepath.Join(dir, "offered", filepath.Base(project)) }}
	for _, project := range []string{"a", "b"} {
		got := workspaceFolders(filepath.Join(dir, project), dir, s)
		want := filepath.Join(dir, "offered", project)
		if len(got) != 2 || got[1].Path != want || got[1].Tier != sdk.TierWorkspace || got[1].Bound != want {
			t.Errorf("%s has %+v", project, got)
		}
	}
	if s.Workspace = nil; len(workspaceFolders(filepath.Join(dir, "a"), dir, s)) != 0 {
		t.Error("it is there without its tier")
	}
}
