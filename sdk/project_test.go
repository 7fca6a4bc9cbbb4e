package sdk

import (
	"os"
	"path/filepath"
	"testing"
)

// TestProjectOf: a project is found from below and behind links, as the command
// line finds it; home and / are none.
func TestProjectOf(t *testing.T) {
	base := WithoutLinks(t.TempDir())
	home, project := filepath.Join(base, "home"), filepath.Join(base, "home", "p")
	for _, dir := range []string{"home/.bothy", "home/loose", "home/p/.git", "home/p/sub"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"at-home": home, "below": filepath.Join(project, "sub")} {
		if err := os.Symlink(to, filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, set := range []string{home, filepath.Join(base, "at-home")} {
		for dir, want := range map[string]string{
			home: "", filepath.Join(base, "at-home"): "", "/": "", filepath.Join(home, "loose"): filepath.Join(home, "loose"),
			project: project, filepath.Join(project, "sub"): project, filepath.Join(base, "below"): project,
		} {
			root, is := ProjectOf(dir, set)
			if is != (want != "") || is && root != want {
				t.Errorf("with home at %s, %s is of %s (%v), want %q", set, dir, root, is, want)
			}
		}
	}
}
