package skill

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/places"
	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
)

func TestWorkspaceIsNotLeft(t *testing.T) {
	t.Parallel()
	trusted := trusts("h", "stolen", "out", "absolute", "inside", "abs", "automounted", "twice", "loop", "users")
	h := newTestLibrary(t, Settings{Workspace: []string{".bothy/skills", ".agents/skills"}}, Options{Trusted: trusted, hash: func(string, func(string)) (string, error) { return "h", nil }})
	mkdir(t, filepath.Join(h.project, ".git"))
	lay(t, h.user, "users", "the user's own")
	lay(t, h.dir, "outside", "")
	lay(t, filepath.Join(h.project, "docs"), "inside", "shared")
	skills := filepath.Join(h.project, ".bothy", "skills")
	mkdir(t, skills)
	symlink(t, filepath.Join(h.user, "users"), filepath.Join(skills, "stolen"))
	symlink(t, "../../../outside", filepath.Join(skills, "out"))
	symlink(t, "../../docs/inside", filepath.Join(skills, "in"))
	symlink(t, lay(t, filepath.Join(h.project, "docs"), "absolute", "shared"), filepath.Join(skills, "abs"))
	symlink(t, "/net/nowhere.invalid/x", filepath.Join(skills, "automounted"))
	symlink(t, "out", filepath.Join(skills, "twice"))
	symlink(t, "loop", filepath.Join(skills, "loop"))
	mkdir(t, filepath.Join(h.project, ".agents"))
	symlink(t, h.user, filepath.Join(h.project, ".agents", "skills"))
	h.awaitIn(h.project, "only what is inside", func(c *Catalogue) bool {
		if !slices.Equal(usable(c), []string{"absolute", "inside", "users"}) {
			return false
		}
		for name, want := range map[string]string{"stolen": "leads out", "out": "leads out", "twice": "leads out", "automounted": "leads out", "loop": "back to itself"} {
			if all := c.Named(name); len(all) != 1 || !strings.Contains(all[0].Reason, want) {
				return false
			}
		}
		d, _ := c.Find("users")
		return d.Tier == sdk.TierUser && len(c.Named("users")) == 1
	})
	if s := h.Folders(h.project); len(s) != 3 || !strings.Contains(s[1].Problem, "leads out") {
		t.Errorf("a folder that is a link out: %+v", s)
	}
}

func TestUntrustedIsInert(t *testing.T) {
	t.Parallel()
	var trust trustOne
	h := newTestLibrary(t, Settings{Workspace: []string{".bothy/skills"}}, Options{Trusted: trust.trusted})
	lay(t, h.user, "one", "user")
	folder := lay(t, filepath.Join(h.project, ".bothy", "skills"), "one", "workspace")
	mkdir(t, filepath.Join(folder, "scripts"))
	write(t, filepath.Join(folder, "scripts", "run.sh"), "echo 1")
	is := func(tier sdk.SkillTier, status sdk.SkillStatus) func(c *Catalogue) bool {
		return func(c *Catalogue) bool {
			d, ok := c.Find("one")
			all := c.Named("one")
			return ok && d.Tier == tier && len(all) == 2 && all[0].Status == status
		}
	}
	h.awaitIn(h.project, "the user's counts", is(sdk.TierUser, sdk.SkillUntrusted))
	trust.set(folderHash(t, folder))
	h.retrust()
	h.awaitIn(h.project, "the workspace's counts", is(sdk.TierWorkspace, sdk.SkillEnabled))
	write(t, filepath.Join(folder, "scripts", "run.sh"), "rm -rf ~")
	h.awaitIn(h.project, "a script changed, and with it the trust", is(sdk.TierUser, sdk.SkillUntrusted))
	write(t, filepath.Join(folder, "scripts", "run.sh"), "echo 1")
	h.awaitIn(h.project, "it is what was trusted again", is(sdk.TierWorkspace, sdk.SkillEnabled))
}

func TestIdleWorkspaceIsNotWatched(t *testing.T) {
	t.Parallel()
	clock := newFakeClock()
	h := newTestLibrary(t, Settings{Workspace: []string{".bothy/skills"}}, Options{
		times:   places.Times{Now: clock.now, Watch: watch.Config{Every: 20 * time.Millisecond}},
		Trusted: trusts("h", "one"), hash: func(string, func(string)) (string, error) { return "h", nil },
	})
	file := filepath.Join(lay(t, filepath.Join(h.project, ".bothy", "skills"), "one", "first"), "SKILL.md")
	h.awaitIn(h.project, "the workspace", func(c *Catalogue) bool { return slices.Equal(usable(c), []string{"one"}) })
	watched := func() bool {
		h.Library.mu.Lock()
		defer h.Library.mu.Unlock()
		return len(h.views.Projects) == 1
	}
	clock.turn(14 * time.Minute)
	h.Folders(h.project)
	clock.turn(14 * time.Minute)
	h.look()
	if !watched() {
		t.Fatal("a workspace in use was let go")
	}
	clock.turn(2 * time.Minute)
	for late := time.Now().Add(inTime); watched(); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("an idle workspace is still in sight")
		}
	}
	write(t, file, skillText("one", "second"))
	h.awaitIn(h.project, "it is looked at again", func(c *Catalogue) bool {
		d, ok := c.Find("one")
		return ok && strings.TrimSpace(d.Body) == "second"
	})
}

func (h *testLibrary) retrust() {
	h.t.Helper()
	if err := h.Check(context.Background(), h.project); err != nil {
		h.t.Fatal(err)
	}
}

// TestOnlyAnsweredIsHashed has a repository with many skills cost nothing until
// somebody answered for one.
func TestOnlyAnsweredIsHashed(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	answer, hashed := "", map[string]int{}
	h := newTestLibrary(t, Settings{Workspace: []string{".bothy/skills"}}, Options{
		Trusted: func(string) map[string]string {
			mu.Lock()
			defer mu.Unlock()
			return map[string]string{answer: "h"}
		},
		hash: func(folder string, _ func(string)) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			hashed[filepath.Base(folder)]++
			return "h", nil
		}})
	skills := filepath.Join(h.project, ".bothy", "skills")
	for i := range 20 {
		mkdir(t, filepath.Join(lay(t, skills, fmt.Sprintf("s%d", i), "first"), "deep", "er"))
		write(t, filepath.Join(lay(t, skills, fmt.Sprintf("z%02d", i), ""), "SKILL.md"), skillText("s3", "the same name"))
	}
	h.awaitIn(h.project, "all, and none trusted", func(c *Catalogue) bool { return len(c.All()) == 40 && len(c.Usable()) == 0 })
	mu.Lock()
	if len(hashed) != 0 {
		t.Errorf("hashed without an answer: %v", hashed)
	}
	answer = "s3"
	mu.Unlock()
	h.retrust()
	if got := usable(h.now(h.project)); !slices.Equal(got, []string{"s3"}) {
		t.Errorf("an answer is not in force at once: %v", got)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(hashed) != mostAlike || hashed["s3"] == 0 {
		t.Errorf("hashed for one answer: %v", hashed)
	}
}

// TestFailedHashIsTriedAgain has a failure that passes forgotten, though no file
// changes.
func TestFailedHashIsTriedAgain(t *testing.T) {
	t.Parallel()
	failing := errors.New("too many open files")
	dir := realDir(t)
	folder := lay(t, dir, "one", "first")
	o := Options{
		times: places.Times{Now: func() time.Time { return time.Now().Add(time.Hour) }}, remote: func(string) string { return "" },
		hash: func(string, func(string)) (string, error) { return "h", failing },
	}
	all := trusts("h", "one")("")
	s := &folderIndex{at: Folder{Tier: sdk.TierWorkspace, Path: dir}}
	s.scan(&watch.Pass{}, &o, all)
	if got := s.entries[folder].doc.sum; got != (folderSum{problem: "too many open files"}) {
		t.Fatal(got)
	}
	failing = nil
	s.scan(&watch.Pass{}, &o, all)
	if got := s.entries[folder].doc.sum; got != (folderSum{hash: "h"}) {
		t.Errorf("it can be read again: %+v", got)
	}
}
