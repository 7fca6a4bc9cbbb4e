package inspect

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/bundle"
	"github.com/bothyd/bothy/daemon/internal/config"
)

// bundleOf is a bundle that starts the fault plugin and has one file more, and files
// that do not belong to it.
func bundleOf(t testing.TB, manifest string) string {
	t.Helper()
	text, err := os.ReadFile(faultBinary)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "fault")
	for name, content := range map[string][]byte{
		bundle.ManifestName: []byte(manifest), "bin/fault": text, "lib/words": []byte("one two"), "notes": []byte("mine"),
	} {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, content, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const faultBundle = `name = "fault"
version = "1.2.3"
start = "bin/fault"
files = ["bin/*", "lib/**"]
`

func stored(t testing.TB) (string, *Inspector) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bundle.Remove(dir) })
	return dir, New(Config{Log: quiet, DataDir: t.TempDir(), Installed: dir})
}

// TestBundleInStore: a folder and its archive are one plugin, by one digest; what of it
// changes is named, by a start and by the look at the whole store.
func TestBundleInStore(t *testing.T) {
	store, r := stored(t)
	dir := bundleOf(t, faultBundle)
	st, err := r.Add(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if !st.Fresh || st.Files != 3 || st.Script || filepath.Base(st.Path) != "bothy-plugin-fault" || r.digestOf(st.Path) != st.Digest {
		t.Errorf("%+v", st)
	}
	var archive bytes.Buffer
	f, err := bundle.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Pack(&archive); err != nil {
		t.Fatal(err)
	}
	packed := filepath.Join(t.TempDir(), f.ArchiveName())
	if err := os.WriteFile(packed, archive.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if again, err := r.Add(t.Context(), packed); err != nil || again.Fresh || again.Path != st.Path {
		t.Errorf("the archive is another plugin: %+v %v", again, err)
	}
	if left, err := filepath.Glob(filepath.Join(store, "sha256", ".new-*")); err != nil || len(left) != 0 {
		t.Errorf("left: %v %v", left, err)
	}
	spec := Spec{Instance: "fault", Path: st.Path, SHA256: st.Digest}
	b, fail := r.Verified(spec)
	if fail != nil {
		t.Fatal(fail)
	}
	_ = b.Close()
	if v := r.Verify(spec); v.Problem != "" || v.Files != 3 || v.Origin != "store" || v.Pin != PinBlock {
		t.Errorf("%+v", v)
	}
	if bad := r.Damaged(); len(bad) != 0 {
		t.Errorf("%+v", bad)
	}
	for want, change := range map[string]func() error{
		"lib/words was changed": func() error { return os.WriteFile(filepath.Join(st.Path, "lib/words"), []byte("three"), 0o644) },
		"lib/more was added, lib/words is gone": func() error {
			return os.Rename(filepath.Join(st.Path, "lib/words"), filepath.Join(st.Path, "lib/more"))
		},
	} {
		for _, at := range []string{"lib", "lib/words"} {
			if err := os.Chmod(filepath.Join(st.Path, at), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if _, fail := r.Verified(spec); fail == nil || !strings.HasPrefix(fail.Detail, want+": ") || !fail.Permanent {
			t.Errorf("%v, want %s", fail, want)
		}
		if v := r.Verify(spec); !strings.HasPrefix(v.Problem, want+": ") {
			t.Errorf("%+v, want %s", v, want)
		}
		if bad := r.Damaged(); len(bad) != 1 || !strings.HasPrefix(bad[0].Problem, want+": it is not any more") {
			t.Errorf("%+v, want %s", bad, want)
		}
		if again, err := r.Add(t.Context(), dir); err != nil || !again.Fresh {
			t.Errorf("it was not mended: %+v %v", again, err)
		}
	}
	if err := r.remove(st.Digest); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Join(store, "sha256")); err != nil || len(left) != 0 {
		t.Errorf("left: %v %v", left, err)
	}
}

// TestBundleElsewhere: a folder that stays where it is is held to its pin, too, and
// what changed is named from what was there when something vouched for it last.
func TestBundleElsewhere(t *testing.T) {
	r, dir := newInspector(t), bundleOf(t, faultBundle)
	b, fail := r.Verified(Spec{Instance: "x", Path: dir})
	if fail != nil {
		t.Fatal(fail)
	}
	defer b.Close()
	spec := Spec{Instance: "x", Path: dir, Locked: &config.Locked{Digest: b.Digest, Version: "1.2.3"}}
	if !b.Unchanged() || b.Program != filepath.Join(dir, "bin/fault") {
		t.Error("nothing changed")
	}
	for kept := (described{}); kept.Identity == ""; kept = r.kept(dir) { // believed when its times have settled
		if b, fail := r.Verified(spec); fail != nil || b.Close() != nil {
			t.Fatal(fail)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if b, fail := r.Verified(spec); fail != nil || b.listing != "" || b.Close() != nil {
		t.Errorf("all was read again, or %v", fail)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes"), []byte("more"), 0o644); err != nil {
		t.Fatal(err)
	}
	if b, fail := r.Verified(spec); fail != nil || b.Close() != nil {
		t.Errorf("what does not belong to it counts: %v", fail)
	}
	for _, content := range []string{"three", "four"} { // what was vouched for outlives other looks
		if err := os.WriteFile(filepath.Join(dir, "lib/words"), []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, fail := r.Verified(spec); fail == nil || !strings.HasPrefix(fail.Detail, "lib/words was changed: ") {
			t.Errorf("%s: %v", content, fail)
		}
	}
	if b.Unchanged() {
		t.Error("what a process imports was exchanged while it started, and nobody noticed")
	}
}

// TestBundleExchanged: what a bundle says that it starts is what its digest is of,
// whoever exchanges its manifest or its program in between.
func TestBundleExchanged(t *testing.T) {
	for _, name := range []string{bundle.ManifestName, "bin/fault"} {
		dir := bundleOf(t, faultBundle)
		r, at := newInspector(t), filepath.Join(dir, name)
		whole, err := os.ReadFile(at)
		if err != nil {
			t.Fatal(err)
		}
		b, fail := r.Find(Spec{Path: dir})
		if fail != nil {
			t.Fatal(fail)
		}
		defer b.Close()
		if err := os.WriteFile(at+"-2", whole, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(at+"-2", at); err != nil {
			t.Fatal(err)
		}
		if err := r.Sum(b); err == nil || !strings.Contains(err.Error(), "changed while it was read") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBundleVersion: a bundle that says another version than its plugin is neither locked nor
// checked nor installed, also where it is known already what the plugin says.
func TestBundleVersion(t *testing.T) {
	const want = "bothy-plugin.hcl calls it fault 1.2.4, and the plugin calls itself fault 1.2.3"
	_, r := stored(t)
	spec := Spec{Instance: "x", Path: bundleOf(t, strings.Replace(faultBundle, "1.2.3", "1.2.4", 1))}
	for _, known := range []string{"", "from before"} {
		_, _, declared := r.Declared(t.Context(), spec)
		_, added := r.Add(t.Context(), spec.Path)
		for name, err := range map[string]error{"declared": declared, "added": added} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, known %s: %v", name, known, err)
			}
		}
		found := r.Check(t.Context(), []Spec{spec}, wantsNothing)
		if len(found) != 1 || !found[0].Warning() || !strings.HasSuffix(found[0].Summary, "its two manifests differ") || !strings.Contains(found[0].Detail, want) {
			t.Errorf("known %s: %+v", known, found)
		}
	}
}

// TestBundleRefused: why a folder, or an archive, is no plugin.
func TestBundleRefused(t *testing.T) {
	store, r := stored(t)
	for want, make := range map[string]func() string{
		"is not a file but a folder without a bothy-plugin.hcl: ": func() string { return t.TempDir() },
		`calls it other 1.2.3, and the plugin calls itself fault 1.2.3`: func() string {
			return bundleOf(t, strings.Replace(faultBundle, `"fault"`, `"other"`, 1))
		},
		"lib can be changed by everybody": func() string {
			dir := bundleOf(t, faultBundle)
			if err := os.Chmod(filepath.Join(dir, "lib"), 0o777); err != nil {
				t.Fatal(err)
			}
			return dir
		},
		"is neither a program of this machine nor a script": func() string {
			return bundleOf(t, strings.ReplaceAll(faultBundle, "bin/fault", "lib/words"))
		},
		"it is to start bin/no, which is not there": func() string {
			return bundleOf(t, strings.Replace(faultBundle, "bin/fault", "bin/no", 1))
		},
		"Unsupported argument": func() string { return bundleOf(t, faultBundle+"x = 1\n") },
		"cannot be installed: it cannot be read as .tar.gz": func() string {
			path := filepath.Join(t.TempDir(), "a.tar.gz")
			if err := os.WriteFile(path, []byte("\x1f\x8b\x08 no"), 0o644); err != nil {
				t.Fatal(err)
			}
			return path
		},
	} {
		path := make()
		_, err := r.Add(t.Context(), path)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), ".new-") {
			t.Errorf("%v, want %s", err, want)
		}
		err = filepath.WalkDir(filepath.Join(store, "sha256"), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				t.Errorf("%s: left %s", want, path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	path := filepath.Join(t.TempDir(), "a.tar.gz")
	if err := os.WriteFile(path, []byte("\x1f\x8b\x08 no"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, fail := r.Find(Spec{Path: path}); fail == nil || !strings.Contains(fail.Detail, "is an archive: bothy plugins install takes") {
		t.Error(fail)
	}
}
