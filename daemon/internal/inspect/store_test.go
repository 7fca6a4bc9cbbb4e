package inspect

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/bundle"
	"github.com/bothyd/bothy/sdk"
)

// saying is a script that declares a manifest of this name.
func saying(name string) string {
	return "#!/bin/sh\necho '{\"name\": \"" + name + "\", \"version\": \"1\", \"protocol\": 1, \"kinds\": [\"tool\"]}'\n"
}

// left are the files and folders below the store, without their modes.
func left(t testing.TB, store string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(store, "sha256"), func(path string, d fs.DirEntry, err error) error {
		if rel, bad := filepath.Rel(filepath.Join(store, "sha256"), path); err == nil && bad == nil && rel != "." {
			all = append(all, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestAdd: a file gets a place by its digest, that nobody writes into, once.
func TestAdd(t *testing.T) {
	store, s := stored(t)
	path := laid(t, "theirs", saying("mine"))
	st, err := s.Add(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if st.Digest != sha256Of(t, path) || st.Path != filepath.Join(store, "sha256", st.Digest, "bothy-plugin-mine") || !st.Script || !st.Fresh || st.Files != 0 || st.String() != "mine 1" {
		t.Errorf("%+v", st)
	}
	for _, at := range []string{st.Path, filepath.Dir(st.Path)} {
		if info, err := os.Stat(at); err != nil || info.Mode().Perm() != 0o555 {
			t.Errorf("%s: %v %v", at, info.Mode(), err)
		}
	}
	if again, err := s.Add(t.Context(), path); err != nil || again.Fresh || again.Path != st.Path {
		t.Errorf("%+v %v", again, err)
	}
	if got := left(t, store); !slices.Equal(got, []string{st.Digest, st.Digest + "/bothy-plugin-mine"}) {
		t.Errorf("%v", got)
	}
	if other, err := s.Add(t.Context(), laid(t, "others", saying("other"))); err != nil || !other.Fresh {
		t.Errorf("%+v %v", other, err)
	}
	if bad := s.Damaged(); len(bad) != 0 || len(s.versions("bothy-plugin-*")) != 2 {
		t.Errorf("%+v %v", bad, s.versions("bothy-plugin-*"))
	}
	for range 2 {
		if err := s.remove(st.Digest); err != nil {
			t.Error(err)
		}
	}
	if s.Verify(Spec{Path: st.Path}).Problem == "" || len(s.versions("bothy-plugin-mine")) != 0 {
		t.Error("it is still there")
	}
}

// TestAddRefused: what is no plugin is refused with its own path in the sentence, and
// leaves nothing.
func TestAddRefused(t *testing.T) {
	for name, c := range map[string]struct {
		path    string
		outcome sdk.Outcome
		want    string
	}{
		"nothing":          {filepath.Join(t.TempDir(), "x"), sdk.NotFound, "name the plugin's binary, or build it first"},
		"a text":           {laid(t, "x", "text"), sdk.Validation, "neither a program of this machine nor a script"},
		"another machine":  {foreign(t), sdk.Validation, "was built for EM_SPARCV9"},
		"it says nothing":  {laid(t, "x", "#!/bin/sh\n"), sdk.Validation, "x is no plugin that describes itself: x describe printed no manifest"},
		"a way for a name": {laid(t, "x", saying("../../evil")), sdk.Validation, `the plugin calls itself "../../evil", which cannot be a plugin's name`},
		"no name":          {laid(t, "x", saying("")), sdk.Validation, "cannot be"},
		"a long name":      {laid(t, "x", saying(strings.Repeat("a", 65))), sdk.Validation, "cannot be a plugin's name"},
		"a hidden name":    {laid(t, "x", saying(".hidden")), sdk.Validation, "cannot be a plugin's name"},
		"half an archive":  {laid(t, "x.tar.gz", "\x1f\x8b\x08\x00"), sdk.Validation, "cannot be installed: it cannot be read as .tar.gz"},
	} {
		store, s := stored(t)
		_, err := s.Add(t.Context(), c.path)
		if sdk.OutcomeOf(err) != c.outcome || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), ".new-") {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if got := left(t, store); len(got) != 0 {
			t.Errorf("%s: left %v", name, got)
		}
	}
	blocked := laid(t, "store", "")
	if _, err := New(Config{Log: quiet, Installed: blocked}).Add(t.Context(), faultBinary); sdk.OutcomeOf(err) != sdk.Unavailable || !strings.Contains(err.Error(), "make the store of plugins") {
		t.Error(err)
	}
}

// TestHalfWritten: what a process left that was killed while it copied is no plugin of the
// store, and in the way of none; a place that is damaged is made anew.
func TestHalfWritten(t *testing.T) {
	store, s := stored(t)
	path := laid(t, "theirs", saying("mine"))
	digest := sha256Of(t, path)
	for name, lay := range map[string]func(folder string) error{
		"an empty place": func(folder string) error { return os.Mkdir(folder, 0o555) },
		"half a file": func(folder string) error {
			return errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, "bothy-plugin-mine"), []byte("#!"), 0o555))
		},
		"another file": func(folder string) error {
			return errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, "bothy-plugin-mine"), []byte(saying("evil")), 0o555))
		},
		"a folder in its way": func(folder string) error { return os.MkdirAll(filepath.Join(folder, "bothy-plugin-mine", "x"), 0o700) },
		"left by a copy": func(string) error {
			return os.MkdirAll(filepath.Join(store, "sha256", ".new-1", "made", "bothy-plugin"), 0o700)
		},
	} {
		folder := s.folder(digest)
		if err := os.MkdirAll(filepath.Dir(folder), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := lay(folder); err != nil {
			t.Fatal(err)
		}
		for _, bad := range s.Damaged() {
			if bad.Problem == "" || bad.Origin != "store" || bad.Path != filepath.Join(folder, "bothy-plugin-mine") {
				t.Errorf("%s: %+v", name, bad)
			}
		}
		st, err := s.Add(t.Context(), path)
		if err != nil || !st.Fresh || sha256Of(t, st.Path) != digest {
			t.Errorf("%s: %+v %v", name, st, err)
		}
		if bad := s.Damaged(); len(bad) != 0 {
			t.Errorf("%s: %+v", name, bad)
		}
		if err := s.remove(digest); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHalvesGo: what a killed copy left goes with a later one, and what is being copied
// stays.
func TestHalvesGo(t *testing.T) {
	store, s := stored(t)
	root := filepath.Join(store, "sha256")
	for name, age := range map[string]time.Duration{".new-old": halfTime + time.Minute, ".new-now": 0, "notes": 10 * halfTime} {
		dir := filepath.Join(root, name, "made", "bothy-plugin")
		err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "x"), nil, 0o444), os.Chmod(dir, 0o555))
		at := time.Now().Add(-age)
		if err := errors.Join(err, os.Chtimes(filepath.Join(root, name), at, at)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Add(t.Context(), laid(t, "x", "no plugin")); err == nil {
		t.Error("it was taken")
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{".new-now", "notes"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}

// TestDamaged: a file of the store that is another one is found without its block, and not
// run where no block pins it.
func TestDamaged(t *testing.T) {
	_, s := stored(t)
	st, err := s.Add(t.Context(), laid(t, "theirs", saying("mine")))
	if err != nil {
		t.Fatal(err)
	}
	if b, fail := s.Verified(Spec{Instance: "x", Path: st.Path}); fail != nil || b.Pin != "" || b.Close() != nil {
		t.Errorf("by its place alone: %v", fail)
	}
	if err := errors.Join(os.Chmod(st.Path, 0o755), os.WriteFile(st.Path, []byte(saying("evil")), 0o755)); err != nil {
		t.Fatal(err)
	}
	if bad := s.Damaged(); len(bad) != 1 || bad[0].Path != st.Path || bad[0].Problem != "it is not any more what was installed: install it again" {
		t.Errorf("%+v", bad)
	}
	if _, fail := s.Verified(Spec{Instance: "x", Path: st.Path}); fail == nil || !strings.Contains(fail.Detail, "install it again") {
		t.Errorf("%v", fail)
	}
	if err := os.Chmod(st.Path, 0o444); err != nil {
		t.Fatal(err)
	}
	if bad := s.Damaged(); len(bad) != 1 || !strings.Contains(bad[0].Problem, "is not executable") {
		t.Errorf("%+v", bad)
	}
}

// TestDigestOf: only a path below a digest's folder is one of the store.
func TestDigestOf(t *testing.T) {
	digest := strings.Repeat("a", 64)
	s := New(Config{Log: quiet, Installed: "/store"})
	for path, want := range map[string]string{
		"/store/sha256/" + digest + "/bothy-plugin-x":     digest,
		"/store/sha256/" + digest + "/bothy-plugin-x/bin": digest,
		"/store/sha256/" + digest:                         "",
		"/store/sha256/" + digest[1:] + "/x":              "",
		"/store/sha256/.new-1/made":                       "",
		"/store/sha256/../" + digest + "/x":               "",
		"/store/" + digest + "/x":                         "",
		"/other/sha256/" + digest + "/x":                  "",
		"/store/sha256/" + digest + "/../../../x":         "",
		"sha256/" + digest + "/x":                         "",
		"":                                                "",
	} {
		if got := s.digestOf(path); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
	if got := New(Config{Log: quiet}).digestOf("sha256/" + digest + "/x"); got != "" {
		t.Errorf("without a store: %q", got)
	}
}

// TestBundleKeepsItsSkill: the SKILL.md beside a program is installed with it, from a
// folder and from an archive.
func TestBundleKeepsItsSkill(t *testing.T) {
	_, s := stored(t)
	dir := bundleOf(t, strings.Replace(faultBundle, `"lib/**"`, `"lib/**", "skills/**"`, 1))
	skill := filepath.Join("skills", "outline", "SKILL.md")
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, filepath.Dir(skill)), 0o755), os.WriteFile(filepath.Join(dir, skill), []byte("---\nname: outline\n---\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	folder, err := bundle.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := os.Create(filepath.Join(t.TempDir(), folder.ArchiveName()))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(folder.Pack(archive), archive.Close()); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, archive.Name()} {
		st, err := s.Add(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(filepath.Join(st.Path, skill)); err != nil || !strings.Contains(string(text), "outline") || st.Files != 4 {
			t.Errorf("%s: %q %v", path, text, err)
		}
		if err := s.remove(st.Digest); err != nil {
			t.Fatal(err)
		}
	}
}
