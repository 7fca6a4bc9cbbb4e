package skill

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/bothyd/bothy/sdk"
)

func TestUnpack(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(realDir(t), "skills")
	carried := fstest.MapFS{"one/SKILL.md": {Data: []byte(skillText("one", "first"))}, "one/more.md": {Data: []byte("more")}}
	var wg sync.WaitGroup
	folders := make([]string, 4)
	for i := range folders {
		wg.Go(func() {
			var err error
			if folders[i], err = Bundled("", carried, dir, "1.0"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, f := range folders {
		if f != folders[0] {
			t.Fatalf("several folders: %v", folders)
		}
	}
	h := newTestLibrary(t, Settings{Folders: []Folder{{Tier: sdk.TierBundled, Path: folders[0]}}}, Options{})
	h.reads("one", "first")

	write(t, filepath.Join(folders[0], "one", "SKILL.md"), skillText("one", "edited"))
	h.reads("one", "edited")
	if again, err := Bundled("", carried, dir, "1.0"); err != nil || again != folders[0] {
		t.Errorf("once more: %s, %v", again, err)
	}
	h.look()
	h.reads("one", "edited")

	carried["one/SKILL.md"].Data = []byte(skillText("one", "of the next version"))
	next, err := Bundled("", carried, dir, "1.1")
	if err != nil || next == folders[0] {
		t.Fatalf("%s, %v", next, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("what is left: %v, %v", entries, err)
	}
	h.Configure(Settings{Folders: []Folder{{Tier: sdk.TierBundled, Path: next}}})
	h.reads("one", "of the next version")
}

// TestBundled: the folder of the installation counts when it is there.
func TestBundled(t *testing.T) {
	installed, dir := filepath.Join(t.TempDir(), "skills"), t.TempDir()
	carried := fstest.MapFS{"one/SKILL.md": {Data: []byte("x")}}
	got, err := Bundled(installed, carried, dir, "1")
	if err != nil || filepath.Dir(got) != dir {
		t.Errorf("without an installation: %s, %v", got, err)
	}
	mkdir(t, installed)
	if got, err = Bundled(installed, carried, dir, "1"); err != nil || got != installed {
		t.Errorf("with one: %s, %v", got, err)
	}
	if got, err = Bundled("", carried, filepath.Join(lay(t, dir, "x", ""), "SKILL.md"), "1"); err == nil {
		t.Errorf("where no folder can be: %s", got)
	}
}
