package inspect

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// tools is a manifest with tools of these names.
func tools(names ...string) sdk.Manifest {
	m := sdk.Manifest{Name: "fault", Version: "1.2.3", Kinds: []string{"tool"}}
	for _, name := range names {
		m.Tools = append(m.Tools, sdk.ToolSpec{Name: name, Description: name, Parameters: json.RawMessage(`{"type": "object"}`)})
	}
	return m
}

func names(m sdk.Manifest) string {
	var all []string
	for _, t := range m.Tools {
		all = append(all, t.Name)
	}
	return strings.Join(all, " ")
}

// TestDeclared: the lock gets what a plugin became by its configuration, each instance its
// own, for the very file alone, and from one daemon to the next.
func TestDeclared(t *testing.T) {
	path, data := copyOf(t, 0o755), t.TempDir()
	s := New(Config{Log: quiet, DataDir: data})
	spec := Spec{Instance: "one", Path: path}
	b, fail := s.Verified(spec)
	if fail != nil {
		t.Fatal(fail)
	}
	defer b.Close()
	steps := []struct {
		name     string
		do       func()
		instance string
		want     string
	}{
		{"asked first", func() { s.Remember(b, "", tools("a")) }, "one", "a"},
		{"asked again, the first word counts", func() { s.Remember(b, "", tools("z")) }, "one", "a"},
		{"configured", func() { s.Remember(b, "one", tools("a", "b")) }, "one", "a b"},
		{"another instance", func() {}, "two", "a"},
		{"configured as before it was", func() { s.Remember(b, "two", tools("a")) }, "two", "a"},
		{"configured otherwise", func() { s.Remember(b, "one", tools("c")) }, "one", "c"},
		{"in another daemon", func() { s = New(Config{Log: quiet, DataDir: data}) }, "one", "c"},
		{"configured as at first", func() { s.Remember(b, "one", tools("a")) }, "one", "a"},
	}
	for _, step := range steps {
		step.do()
		spec.Instance = step.instance
		m, entry, err := s.Declared(t.Context(), spec)
		if err != nil || names(m) != step.want || entry.Digest != b.Digest || len(entry.Tools) != len(m.Tools) {
			t.Errorf("%s: %s (%v), want %s", step.name, names(m), err, step.want)
		}
	}
	s.Remember(b, "one", tools("d"))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString("\n")
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	spec.Instance, spec.Locked = "one", &config.Locked{Digest: b.Digest}
	m, entry, err := s.Declared(t.Context(), spec)
	if err != nil || len(m.Tools) < 5 || entry.Digest == b.Digest {
		t.Errorf("of another file, whatever the lock says: %s %v", names(m), err)
	}
	spec.SHA256 = b.Digest
	if _, _, err := s.Declared(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "its block pins") {
		t.Errorf("what its block refuses is looked at: %v", err)
	}
}

// TestKeptBroken: what lies there broken counts for nothing, and is made anew.
func TestKeptBroken(t *testing.T) {
	for _, text := range []string{"", "{", "[]", `{"digest": 7}`, `{"digest": "0000", "declared": {"": {"name": "evil"}}}`, strings.Repeat("[", 1000), `{}{"digest": ""}`} {
		data := t.TempDir()
		s := New(Config{Log: quiet, DataDir: data})
		if err := errors.Join(os.Mkdir(filepath.Join(data, "plugins"), 0o700), os.WriteFile(s.cacheFile(faultBinary), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		m, err := s.Manifest(t.Context(), Spec{Path: faultBinary})
		if err != nil || m.Name != "fault" {
			t.Errorf("%s: %+v %v", text, m, err)
		}
		if kept := New(Config{Log: quiet, DataDir: data}).kept(faultBinary); kept.Declared[""].Name != "fault" || kept.Digest != sha256Of(t, faultBinary) {
			t.Errorf("%s: kept is %+v", text, kept)
		}
	}
}

// TestNothingKept: who only looks writes nothing, and where nothing can be written all
// works as before.
func TestNothingKept(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, cfg := range map[string]Config{
		"only looks":  {DataDir: t.TempDir(), LookOnly: true},
		"no folder":   {},
		"no place":    {DataDir: blocked},
		"of a bundle": {DataDir: t.TempDir(), LookOnly: true},
	} {
		cfg.Log = quiet
		s, spec := New(cfg), Spec{Instance: "x", Path: faultBinary}
		if name == "of a bundle" {
			spec.Path = bundleOf(t, faultBundle)
			spec.SHA256 = s.Verify(spec).Digest
		}
		for range 2 {
			if m, err := s.Manifest(t.Context(), spec); err != nil || m.Name != "fault" {
				t.Errorf("%s: %+v %v", name, m, err)
			}
		}
		if !cfg.LookOnly {
			continue
		}
		if left, err := os.ReadDir(cfg.DataDir); err != nil || len(left) != 0 {
			t.Errorf("%s: it wrote %v (%v)", name, left, err)
		}
	}
}

// TestForget: nothing is left of what was kept of a file, or of a bundle with what
// vouched for it.
func TestForget(t *testing.T) {
	data := t.TempDir()
	s, dir := New(Config{Log: quiet, DataDir: data}), bundleOf(t, faultBundle)
	spec := Spec{Instance: "x", Path: dir, SHA256: s.Verify(Spec{Path: dir}).Digest}
	if _, err := s.Manifest(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	count := func() (n int) {
		err := filepath.WalkDir(data, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				n++
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count(); n != 2 {
		t.Errorf("%d files are kept, want what it declares and what it holds", n)
	}
	s.forget(dir)
	s.forget(dir) // again
	if n := count(); n != 0 || s.kept(dir).Digest != "" {
		t.Errorf("%d files are left, %+v", n, s.kept(dir))
	}
}

// TestHeldProvesItself: only the listing that has the digest says what changed.
func TestHeldProvesItself(t *testing.T) {
	s, dir := newInspector(t), bundleOf(t, faultBundle)
	spec := Spec{Instance: "x", Path: dir, SHA256: s.Verify(Spec{Path: dir}).Digest}
	b, fail := s.Verified(spec)
	if fail != nil {
		t.Fatal(fail)
	}
	defer b.Close()
	if err := os.WriteFile(filepath.Join(dir, "lib/words"), []byte("three"), 0o755); err != nil {
		t.Fatal(err)
	}
	if v := s.Verify(spec); !strings.HasPrefix(v.Problem, "lib/words was changed: ") {
		t.Errorf("%+v", v)
	}
	for _, text := range []string{"", "bothy-bundle 1\n", "bothy-bundle 1\nfile " + strings.Repeat("0", 64) + " lib/words\n"} {
		if err := os.WriteFile(s.listingFile(b), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if v := s.Verify(spec); !strings.HasPrefix(v.Problem, dir+" has sha256 ") {
			t.Errorf("%q was believed: %s", text, v.Problem)
		}
	}
}
