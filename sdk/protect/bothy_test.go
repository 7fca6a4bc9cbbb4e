package protect

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestOwnPaths(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"home/.config", "home/real/data", "home/src/x"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("home", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(dir, "home", "state")); err != nil {
		t.Fatal(err)
	}
	rules := Rules{Bothy: []string{filepath.Join(dir, "home/.config/bothy"), filepath.Join(dir, "home/state/data")}}
	for project, want := range map[string][]string{
		"home": {".config/bothy", "real/data", "state/data"}, "link": {".config/bothy", "real/data", "state/data"},
		"home/.config": {"bothy"}, "home/state/data/runs/k/workspace": nil, "home/src": nil, "home/src/x": nil, "home/real": {"data"},
	} {
		got, holder := rules.Own(filepath.Join(dir, project))
		slices.Sort(got)
		if got = slices.Compact(got); holder != "" || !slices.Equal(got, want) {
			t.Errorf("%s: got %q %q, want %q", project, got, holder, want)
		}
	}
	for _, project := range []string{"home/real/data", "home/state/data/runs", "home/state/data/runs/k", "home/state/data/runs/k/home", "home/state/data/runs/k/workspace/x", "home/state/data/runs/k/x/workspace", "home/state/data/workspace", "link/state/data", "home/.config/bothy", "home/.config/bothy/x"} {
		if got, holder := rules.Own(filepath.Join(dir, project)); holder == "" {
			t.Errorf("%s: got %q", project, got)
		}
	}
}
