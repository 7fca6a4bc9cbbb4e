package watch

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fsnotify/fsnotify"
)

// idle is a notifier without events.
type idle struct{}

func (idle) Add(string) error              { return nil }
func (idle) Remove(string) error           { return nil }
func (idle) Events() <-chan fsnotify.Event { c := make(chan fsnotify.Event); close(c); return c }
func (idle) Errors() <-chan error          { return nil }
func (idle) Close() error                  { return nil }

// TestPath: what is watched on the way to a file.
func TestPath(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "real", "deep"), 0o700),
		os.WriteFile(filepath.Join(dir, "real", "deep", "f"), nil, 0o600),
		os.Symlink("real", filepath.Join(dir, "link")), os.Symlink("loop", filepath.Join(dir, "loop")),
		os.Symlink("real/deep", filepath.Join(dir, "short")), os.Symlink("short/../g", filepath.Join(dir, "up")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ path, folders, names string }{
		{"real/deep/f", "real/deep", "real/deep/f"},
		{"link/deep/f", " real/deep", "link real/deep/f"},
		{"real/none/f", "real", "real/none"},
		{"none", "", "none"},
		{"loop", "", "loop"},
		{"up", " real", "real/g short up"},
	} {
		s := newSet(idle{}, New(Config{}))
		p := &Pass{set: s, places: map[string]Identity{}}
		p.begin()
		p.Path(filepath.Join(dir, c.path))
		p.end()
		s.close()
		for what, x := range map[string]struct {
			got  map[string]bool
			want string
		}{"folders": {s.added, c.folders}, "names": {s.names, c.names}} {
			want := strings.Split(x.want, " ")
			for i := range want {
				want[i] = filepath.Join(dir, want[i])
			}
			if got := slices.Sorted(maps.Keys(x.got)); !slices.Equal(got, want) {
				t.Errorf("%s: %s %v, want %v", c.path, what, got, want)
			}
		}
	}
}
