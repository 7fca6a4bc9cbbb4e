package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/inspect"
)

// layBundle makes a bundle that starts the fault plugin.
func layBundle(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "fault")
	for _, sub := range []string{"bin", "lib/deep"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	copyFile(t, faultBinary, filepath.Join(dir, "bin/fault"))
	for name, text := range map[string]string{
		"bothy-plugin.hcl": "name = \"fault\"\nversion = \"1.2.3\"\nstart = \"bin/fault\"\nfiles = [\"bin/*\", \"lib/**\"]\n", "lib/deep/words": "one", "notes": "mine",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestChangedBundle: a file of a bundle that is another one is taken up by itself, one
// that does not belong to it is no change, and what a pin refuses is named while the
// process that runs goes on.
func TestChangedBundle(t *testing.T) {
	dir := layBundle(t)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, _, said := spread(t, func(_ *Config, s *inspect.Spec) { s.Path = dir })
	old, first := r.status(t, "fault").PID, r.status(t, "fault").Digest
	write("notes", "more")
	write("lib/deep/words", "two")
	eventually(t, "another process serves", func() bool { return r.status(t, "fault").PID != old })
	now := r.status(t, "fault")
	if now.Digest == first || now.Path != dir || len(said()) != 0 {
		t.Errorf("%+v %q", now, said())
	}

	r, _, said = spread(t, func(_ *Config, s *inspect.Spec) { s.Path, s.SHA256 = dir, now.Digest })
	old = r.status(t, "fault").PID
	write("lib/deep/words", "three")
	eventually(t, "the change was refused", func() bool {
		return strings.Contains(strings.Join(said(), ""), "its binary is refused: lib/deep/words was changed: "+dir)
	})
	if now := r.status(t, "fault"); now.PID != old || now.State != Ready {
		t.Errorf("%+v", now)
	}
	write("lib/deep/words", "two")
	eventually(t, "it is as it was", func() bool { return len(said()) == 0 })
}

// TestBundleThatChangesItself: a file that is another one by the time that its process
// is there is refused, before the process is told anything.
func TestBundleThatChangesItself(t *testing.T) {
	dir := layBundle(t)
	for name, text := range map[string]string{
		"bothy-plugin.hcl": "name = \"fault\"\nversion = \"1.2.3\"\nstart = \"run\"\n",
		"run":              "#!/bin/sh\ndir=$(dirname \"$(readlink -f \"$0\")\")\necho more >>\"$dir/lib/deep/words\"\nexec \"$dir/bin/fault\" \"$@\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r, s := newRig(t, nil), spec("fault", "")
	s.Path = dir
	found := r.start(t.Context(), []inspect.Spec{s})
	if len(found) != 1 || !strings.Contains(found[0].Error(), dir+" changed while it was started") {
		t.Errorf("%v", found)
	}
}

// TestMendedBundle: a folder whose manifest is mended in its place is tried again.
func TestMendedBundle(t *testing.T) {
	dir := layBundle(t)
	manifest := filepath.Join(dir, "bothy-plugin.hcl")
	whole, err := os.ReadFile(manifest)
	if err == nil {
		err = os.WriteFile(manifest, whole[:len(whole)/2], 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	r, s := newRig(t, nil), spec("fault", "")
	s.Path = dir
	r.start(t.Context(), []inspect.Spec{s})
	eventually(t, "it is broken", func() bool { return r.status(t, "fault").State == Broken })
	if err := os.WriteFile(manifest, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it serves", func() bool { return r.status(t, "fault").State == Ready })
}
