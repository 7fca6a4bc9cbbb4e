package skill

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
)

func TestRow08ManyAtOnce(t *testing.T) {
	t.Parallel()
	h := newTestLibrary(t, Settings{}, Options{})
	h.has()
	var want []string
	for i := range 200 {
		want = append(want, fmt.Sprintf("s%03d", i))
		lay(t, filepath.Join(h.user, fmt.Sprintf("b%d", i%7)), want[i], "text")
	}
	h.has(want...)
}

func TestRow09MovedIn(t *testing.T) {
	t.Parallel()
	h := newTestLibrary(t, Settings{}, Options{})
	h.has()
	lay(t, filepath.Join(h.dir, "out"), "one", "first")
	lay(t, filepath.Join(h.dir, "out", "deep"), "two", "second")
	rename(t, filepath.Join(h.dir, "out"), filepath.Join(h.user, "in"))
	h.has("one", "two")
	write(t, filepath.Join(h.user, "in", "deep", "two", "SKILL.md"), skillText("two", "later"))
	h.reads("two", "later")
}

func TestRow10MovedOut(t *testing.T) {
	t.Parallel()
	h := newTestLibrary(t, Settings{}, Options{})
	folder := lay(t, h.user, "one", "first")
	lay(t, h.user, "two", "second")
	h.has("one", "two")
	out := filepath.Join(h.dir, "out")
	rename(t, folder, out)
	h.has("two")
	before := h.reloads()
	write(t, filepath.Join(out, "SKILL.md"), skillText("one", "later"))
	h.look()
	if n := h.reloads() - before; n != 0 {
		t.Errorf("%d reloads by an edit elsewhere", n)
	}
}

// named is a SKILL.md whose folder gives it its name.
const named = "---\ndescription: What it is for.\n---\n"

func TestRow11RenamedFolder(t *testing.T) {
	t.Parallel()
	h := newTestLibrary(t, Settings{}, Options{})
	folder := filepath.Join(h.user, "old")
	mkdir(t, folder)
	write(t, filepath.Join(folder, "SKILL.md"), named+"first\n")
	h.has("old")
	to := filepath.Join(h.user, "new")
	rename(t, folder, to)
	h.has("new")
	for _, body := range []string{"second", "third"} {
		write(t, filepath.Join(to, "SKILL.md"), named+body+"\n")
		h.reads("new", body)
	}
}

func TestRow12TierRemovedAndMadeAgain(t *testing.T) {
	t.Parallel()
	h := newTestLibrary(t, Settings{}, Options{})
	lay(t, h.user, "one", "first")
	h.has("one")
	for _, body := range []string{"second", "third"} {
		remove(t, h.user)
		h.has()
		lay(t, h.user, "one", body)
		h.reads("one", body)
	}
}

func TestRow13TierMadeLater(t *testing.T) {
	t.Parallel()
	for name, links := range map[string]bool{"below nothing": false, "below a link": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := realDir(t)
			if links {
				mkdir(t, filepath.Join(dir, "dotfiles"))
				symlink(t, "dotfiles", filepath.Join(dir, "a"))
			}
			tier := filepath.Join(dir, "a", "b", "skills")
			h := newTestLibrary(t, Settings{Folders: []Folder{{Tier: sdk.TierUser, Path: tier}}}, Options{})
			h.has()
			if s := h.Folders(""); len(s) != 1 || s[0].Exists || s[0].Problem != "" {
				t.Errorf("a folder that is not there: %+v", s)
			}
			lay(t, tier, "one", "first")
			h.reads("one", "first")
			remove(t, filepath.Join(dir, "a", "b"))
			h.has()
			lay(t, tier, "one", "second")
			h.reads("one", "second")
			if s := h.Folders(""); len(s) != 1 || !s[0].Exists || s[0].Skills != 1 || s[0].Watching != watch.Native() {
				t.Errorf("the folder: %+v", s)
			}
		})
	}
}

func TestRow17NestsAndCycles(t *testing.T) {
	t.Parallel()
	h := newTestLibrary(t, Settings{}, Options{})
	lay(t, h.user, "one", "first")
	symlink(t, h.user, filepath.Join(h.user, "self"))
	symlink(t, filepath.Join(h.user, "b"), filepath.Join(h.user, "a"))
	symlink(t, filepath.Join(h.user, "a"), filepath.Join(h.user, "b"))
	at := filepath.Join(h.user, "nest")
	for range 40 {
		at = filepath.Join(at, "d")
	}
	lay(t, at, "deep", "")
	mkdir(t, filepath.Join(h.user, "c"))
	symlink(t, "..", filepath.Join(h.user, "c", "up"))
	h.has("one")
	h.await("the links are listed", func(c *Catalogue) bool {
		for _, name := range []string{"self", "a", "b", "up"} {
			all := c.Named(name)
			if len(all) != 1 || all[0].Status != sdk.SkillBroken || !strings.Contains(all[0].Reason, "back to itself") {
				return false
			}
		}
		return len(c.All()) == 5
	})
	if s := h.Folders(""); !strings.Contains(s[0].Problem, "deep") {
		t.Errorf("the nest: %+v", s[0])
	}
}

func TestRow28ThreeTiers(t *testing.T) {
	t.Parallel()
	dir := realDir(t)
	user, bundled, project := filepath.Join(dir, "user"), filepath.Join(dir, "bundled"), filepath.Join(dir, "project")
	h := newTestLibrary(t, Settings{
		Folders:   []Folder{{Tier: sdk.TierUser, Path: user}, {Tier: sdk.TierBundled, Path: bundled}},
		Workspace: []string{".bothy/skills"},
	}, Options{Trusted: trusts("h", "one"), hash: func(string, func(string)) (string, error) { return "h", nil }})
	top := lay(t, filepath.Join(project, ".bothy", "skills"), "one", "workspace")
	lay(t, user, "one", "user")
	lay(t, bundled, "one", "bundled")
	tiers := func(want ...string) func(c *Catalogue) bool {
		return func(c *Catalogue) bool {
			var got []string
			for i, d := range c.Named("one") {
				shadowed := d.Status == sdk.SkillShadowed && strings.Contains(d.Reason, want[0])
				if (i == 0) != (d.Status == sdk.SkillEnabled) || i > 0 && !shadowed {
					return false
				}
				got = append(got, strings.TrimSpace(d.Body))
			}
			d, ok := c.Find("one")
			return slices.Equal(got, want) && (ok && strings.TrimSpace(d.Body) == want[0])
		}
	}
	h.awaitIn(project, "three tiers", tiers("workspace", "user", "bundled"))
	remove(t, top)
	h.awaitIn(project, "two tiers", tiers("user", "bundled"))
	remove(t, user)
	h.awaitIn(project, "one tier", tiers("bundled"))
	lay(t, filepath.Join(project, ".bothy", "skills"), "one", "workspace")
	lay(t, user, "one", "user")
	h.awaitIn(project, "three tiers again", tiers("workspace", "user", "bundled"))
}

func TestRow29ReloadDuringATurn(t *testing.T) {
	t.Parallel()
	h := newTestLibrary(t, Settings{}, Options{})
	folder := lay(t, h.user, "one", "first")
	h.reads("one", "first")
	turn, err := h.Catalogue(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "SKILL.md"), skillText("one", "second"))
	h.reads("one", "second")
	if d, ok := turn.Find("one"); !ok || strings.TrimSpace(d.Body) != "first" {
		t.Error("the catalogue of a turn changed under it")
	}
	remove(t, folder)
	h.has()
	if d, ok := turn.Find("one"); !ok || strings.TrimSpace(d.Body) != "first" {
		t.Error("the catalogue of a turn lost a skill")
	}
}

func TestRow30CaseAndAccents(t *testing.T) {
	t.Parallel()
	h := newTestLibrary(t, Settings{}, Options{})
	folder := filepath.Join(h.user, "Upper")
	mkdir(t, folder)
	write(t, filepath.Join(folder, "SKILL.md"), named+"first\n")
	h.has("upper")
	rename(t, folder, filepath.Join(h.user, "upper"))
	h.await("the other case", func(c *Catalogue) bool {
		all := c.Named("upper")
		return len(all) == 1 && all[0].Folder == filepath.Join(h.user, "upper")
	})
	for _, c := range h.catalogues() {
		if all := c.Named("upper"); len(all) > 1 {
			t.Errorf("two of one: %s", describe(c))
		}
	}
	for _, name := range []string{"caf\u00e9", "cafe\u0301"} { // composed, decomposed
		mkdir(t, filepath.Join(h.user, name))
		write(t, filepath.Join(h.user, name, "SKILL.md"), named+"first\n")
	}
	h.await("both spellings", func(c *Catalogue) bool { return len(c.Named("caf\u00e9")) == 2 })
	h.has("café", "upper")
}

func symlink(t testing.TB, target, link string) {
	t.Helper()
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
}

// linkLibrary has two user folders that may link to each other, a store that both
// may link to, and one that nobody may.
func linkLibrary(t *testing.T) (h *testLibrary, store, other string) {
	dir := realDir(t)
	a, b, store := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "store")
	for _, p := range []string{a, b, store} {
		mkdir(t, p)
	}
	allow := []string{a, b, store}
	h = newTestLibrary(t, Settings{Folders: []Folder{{Tier: sdk.TierUser, Path: a, Allow: allow}, {Tier: sdk.TierUser, Path: b, Allow: allow}}}, Options{})
	h.user = a
	return h, store, filepath.Join(dir, "other")
}

func TestRow14LinkedSkill(t *testing.T) {
	t.Parallel()
	for name, link := range map[string]func(t *testing.T, target, link string){
		"absolute": func(t *testing.T, target, link string) { symlink(t, target, link) },
		"relative": func(t *testing.T, target, link string) {
			symlink(t, filepath.Join("..", "store", filepath.Base(target)), link)
		},
		"by another link": func(t *testing.T, target, link string) {
			symlink(t, target, filepath.Join(filepath.Dir(target), "alias"))
			symlink(t, filepath.Join(filepath.Dir(target), "alias"), link)
		},
		"of the file": func(t *testing.T, target, link string) {
			mkdir(t, link)
			symlink(t, filepath.Join(target, "SKILL.md"), filepath.Join(link, "SKILL.md"))
		},
		"as a volume has it": func(t *testing.T, target, link string) {
			mkdir(t, link)
			rename(t, target, filepath.Join(link, "..2026"))
			symlink(t, "..2026", filepath.Join(link, "..data"))
			symlink(t, "..data/SKILL.md", filepath.Join(link, "SKILL.md"))
			symlink(t, filepath.Join(link, "..2026"), target)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, store, _ := linkLibrary(t)
			target := lay(t, store, "one", "first")
			link(t, target, filepath.Join(h.user, "one"))
			h.reads("one", "first")
			for _, body := range []string{"second", "third"} {
				write(t, filepath.Join(target, "SKILL.md"), skillText("one", body))
				h.reads("one", body)
			}
		})
	}
}

func TestRow15LinkTurnedElsewhere(t *testing.T) {
	t.Parallel()
	h, store, _ := linkLibrary(t)
	old, next := lay(t, filepath.Join(store, "v1"), "one", "first"), lay(t, filepath.Join(store, "v2"), "one", "second")
	link := filepath.Join(h.user, "one")
	symlink(t, old, link)
	h.reads("one", "first")
	symlink(t, next, link+".new")
	rename(t, link+".new", link)
	h.reads("one", "second")
	h.look() // the change is seen before it is told
	before := h.reloads()
	write(t, filepath.Join(old, "SKILL.md"), skillText("one", "old"))
	h.look()
	if n := h.reloads() - before; n != 0 {
		t.Errorf("%d reloads by an edit of the old target", n)
	}
	write(t, filepath.Join(next, "SKILL.md"), skillText("one", "third"))
	h.reads("one", "third")
}

func TestRow16LinkOut(t *testing.T) {
	t.Parallel()
	h, store, other := linkLibrary(t)
	lay(t, other, "one", "theirs")
	lay(t, store, "good", "ours")
	for name, target := range map[string]string{
		"etc": "/etc", "theirs": filepath.Join(other, "one"), "up": "../other/one", "twice": filepath.Join(h.user, "theirs"),
		"through": filepath.Join(store, "..", "other", "one"),
	} {
		symlink(t, target, filepath.Join(h.user, name))
	}
	mkdir(t, filepath.Join(h.user, "file"))
	symlink(t, "/etc/passwd", filepath.Join(h.user, "file", "SKILL.md"))
	symlink(t, filepath.Join(store, "good"), filepath.Join(h.user, "good"))
	h.has("good")
	h.await("all are refused", func(c *Catalogue) bool {
		for _, name := range []string{"etc", "theirs", "up", "twice", "through", "file"} {
			all := c.Named(name)
			if len(all) != 1 || all[0].Status != sdk.SkillBroken || !strings.Contains(all[0].Reason, "leads out") || all[0].Body != "" {
				return false
			}
		}
		return true
	})
	// What was good becomes somebody else's.
	remove(t, filepath.Join(h.user, "good"))
	symlink(t, filepath.Join(other, "one"), filepath.Join(h.user, "good"))
	h.has()
}
