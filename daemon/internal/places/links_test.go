package places

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// TestLinkIsResolvedNotRead: what an absolute link means, no cleaning of its letters
// tells.
func TestLinkIsResolvedNotRead(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	workspace := filepath.Join(dir, "workspace")
	for _, folder := range []string{"workspace/x", "workspace/d/e", "outside/d", "outside/x"} {
		mkdir(t, filepath.Join(dir, folder))
	}
	symlink(t, "../outside/d", filepath.Join(workspace, "out"))
	symlink(t, "d/e", filepath.Join(workspace, "in"))
	root, err := openRoot(workspace)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Handle.Close()
	for i, c := range []struct {
		target string
		want   error
	}{
		{"/x", nil}, {"//x/", nil}, {"/d/../x", nil}, {"/in/../../x", nil}, {"/", nil}, {"", nil},
		{"/out/../x", ErrEscape}, {"/out", ErrEscape}, {"/../outside/x", ErrEscape}, {"/in/../../../outside", ErrEscape}, {"/in/../x", os.ErrNotExist},
	} {
		link := filepath.Join(workspace, fmt.Sprint("link", i))
		symlink(t, workspace+c.target, link)
		if err := root.Holds(link); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.target, err, c.want)
		}
	}
}

// TestFollowIsTheKernels compares follow with what the system makes of links,
// on random trees.
func TestFollowIsTheKernels(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		root := filepath.Join(dir, "t"+string(rune('a'+n%26)))
		if err := os.RemoveAll(root); err != nil {
			rt.Fatal(err)
		}
		in := filepath.Join(root, "in")
		for _, p := range []string{"in/a/b", "in/c", "out/d"} {
			mkdir(t, filepath.Join(root, p))
		}
		part := rapid.SampledFrom([]string{"..", "a", "b", "c", "l0", "l1", "l2", ".", "in", "out", "d"})
		for i := range 3 {
			target := filepath.Join(rapid.SliceOfN(part, 1, 1).Draw(rt, "first")...)
			for _, p := range rapid.SliceOfN(part, 0, 4).Draw(rt, "rest") {
				target += "/" + p // not cleaned: a .. behind a link is not the one before
			}
			if rapid.Bool().Draw(rt, "absolute") {
				target = in + "/" + target
			}
			at := rapid.SampledFrom([]string{"", "a", "c"}).Draw(rt, "at")
			symlink(t, target, filepath.Join(in, at, "l"+string(rune('0'+i))))
			link := filepath.Join(in, at, "l"+string(rune('0'+i)))
			start, err := openRoot(in)
			if err != nil {
				rt.Fatal(err)
			}
			got, err := Roots{start}.Follow(link)
			_ = start.Handle.Close()
			want, kernel := filepath.EvalSymlinks(link)
			_, inside := Below(in, want)
			switch {
			case err == nil && (kernel != nil || got != want || !inside):
				rt.Fatalf("%s leads to %s, and the system says %s, %v", target, got, want, kernel)
			case kernel == nil && inside != (err == nil), kernel == nil && !inside && !errors.Is(err, ErrEscape):
				rt.Fatalf("%s leads to %s: %v", target, want, err)
			}
		}
	})
}

func mkdir(t *testing.T, folder string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, target, link string) {
	t.Helper()
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
}
