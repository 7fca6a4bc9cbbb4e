//go:build linux

package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sandbox"
)

// TestNothingElseIsMountedThanWasLookedAt swaps what a container mounts between
// the look at it and its making, as a command of a run in the folder above can.
func TestNothingElseIsMountedThanWasLookedAt(t *testing.T) {
	cfg := config(t, shortDir(t))
	m := open(t, cfg)
	swap := func(at, to string) error {
		return errors.Join(os.Rename(at, at+"-was"), os.Symlink(to, at))
	}
	for name, c := range map[string]struct {
		swap func(f *fixture, secret string) error
		code string
	}{
		"honest":             {func(*fixture, string) error { return nil }, ""},
		"project for a link": {func(f *fixture, secret string) error { return swap(f.run.Project, secret) }, sandbox.CodeSwapped},
		"project for another": {func(f *fixture, secret string) error {
			return errors.Join(os.Rename(f.run.Project, f.run.Project+"-was"), os.Rename(secret, f.run.Project))
		}, sandbox.CodeSwapped},
		"home for a link":   {func(f *fixture, secret string) error { return swap(filepath.Join(f.run.RunDir, "home"), secret) }, sandbox.CodeSwapped},
		".bothy for a link": {func(f *fixture, secret string) error { return swap(f.path(".bothy"), secret) }, ""},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			f := newFixture(t, m)
			f.write(".bothy/mine", "")
			secret := filepath.Join(t.TempDir(), "secret")
			if err := errors.Join(os.MkdirAll(filepath.Join(secret, ".bothy"), 0o700), os.WriteFile(filepath.Join(secret, "key"), []byte("k"), 0o600)); err != nil {
				t.Fatal(err)
			}
			made := 0
			m.BeforeMount(func() {
				if made++; made == 1 {
					if err := c.swap(f, secret); err != nil {
						t.Error(err)
					}
				}
			})
			defer m.BeforeMount(nil)
			out := f.exec(t.Context(), sandbox.Command{Argv: []string{"bash", "-c", "cat /workspace/key ~/key /workspace/.bothy/key; true"}})
			if sandbox.Code(out.err) != c.code || out.stdout != "" || made == 0 {
				t.Fatalf("made %d times, got %+v %v", made, out, out.err)
			}
			if c.code == "" {
				return
			}
			if len(out.Violations) != 1 || !strings.Contains(out.err.Error(), "was not run") {
				t.Errorf("got %+v", out)
			}
			eventually(t, "its container is removed", func() bool {
				return len((&settling{t: t, cfg: cfg}).container(f.run.RunID)) == 0
			})
		})
	}
}
