package inspect

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// laid is a new file, which everybody who may find it can execute.
func laid(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	syscall.ForkLock.RLock() // a child that was begun meanwhile would hold the file open for writing, and it could not be run
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// foreign is the fault plugin, said to be for another kind of computer.
func foreign(t testing.TB) string {
	t.Helper()
	path := copyOf(t, 0o755)
	syscall.ForkLock.RLock() // a child that was begun meanwhile would hold the file open for writing, and it could not be run
	defer syscall.ForkLock.RUnlock()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	machine := binary.LittleEndian.AppendUint16(nil, uint16(elf.EM_SPARCV9))
	_, err = f.WriteAt(machine, 18) // e_machine
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLookAtBroken: what is mended in a folder that cannot be started is seen, in whichever
// of its files it was broken and though each is written in its place.
func TestLookAtBroken(t *testing.T) {
	s, dir := newInspector(t), bundleOf(t, faultBundle)
	manifest, program := filepath.Join(dir, "bothy-plugin.hcl"), filepath.Join(dir, "bin/fault")
	seen := map[string]string{}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"as it is", func() error { return nil }},
		{"a broken manifest", func() error { return os.WriteFile(manifest, []byte("name = "), 0o755) }},
		{"one of another plugin", func() error {
			return os.WriteFile(manifest, []byte(strings.Replace(faultBundle, "bin/fault", "bin/no", 1)), 0o755)
		}},
		{"mended", func() error { return os.WriteFile(manifest, []byte(faultBundle), 0o755) }},
		{"not to be executed", func() error { return os.Chmod(program, 0o644) }},
		{"to be executed", func() error { return os.Chmod(program, 0o755) }},
		{"no manifest", func() error { return os.Remove(manifest) }},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		id, folders := s.Look(dir)
		if before, is := seen[id]; is || id == "" {
			t.Errorf("%s: nothing new since %s", step.name, before)
		}
		if !slices.ContainsFunc(folders, func(f string) bool { return filepath.Base(f) == "bin" }) {
			t.Errorf("%s: its folders are not watched: %v", step.name, folders)
		}
		seen[id] = step.name
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if id, folders := s.Look(dir); id != "" || folders != nil {
		t.Errorf("%q %v", id, folders)
	}
}

// TestUnusable: what cannot be started is refused at once, in a sentence that says what
// to do, and nobody waits for a pipe.
func TestUnusable(t *testing.T) {
	at := func(make func(path string) error) func(testing.TB) string {
		return func(t testing.TB) string {
			path := filepath.Join(t.TempDir(), "x")
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			return path
		}
	}
	text := func(text string, mode os.FileMode) func(testing.TB) string {
		return at(func(path string) error {
			return errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode))
		})
	}
	for name, c := range map[string]struct {
		make    func(testing.TB) string
		want    string
		missing bool
	}{
		"relative":         {func(testing.TB) string { return "bin/x" }, `path "bin/x" is not absolute`, false},
		"nothing":          {func(t testing.TB) string { return filepath.Join(t.TempDir(), "x") }, "Install it there", true},
		"no folder":        {func(t testing.TB) string { return filepath.Join(t.TempDir(), "no", "x") }, "Install it there", true},
		"below a file":     {func(t testing.TB) string { return laid(t, "f", "") + "/x" }, "not a directory", false},
		"a link":           {at(func(path string) error { return os.Symlink(faultBinary, path) }), "is a symbolic link to " + faultBinary + ": name the file itself", false},
		"a dangling link":  {at(func(path string) error { return os.Symlink("/nowhere", path) }), "is a symbolic link to : name", false},
		"a pipe":           {at(func(path string) error { return syscall.Mkfifo(path, 0o755) }), "is not a file (prwxr-xr-x)", false},
		"a folder":         {at(func(path string) error { return os.Mkdir(path, 0o755) }), "a folder without a bothy-plugin.hcl", false},
		"empty":            {text("", 0o755), "neither a program of this machine nor a script", false},
		"one byte":         {text("#", 0o755), "neither a program of this machine nor a script", false},
		"a text":           {text("echo hello\n", 0o755), "neither a program of this machine nor a script", false},
		"half a program":   {text("\x7fELF\x02\x01\x01", 0o755), "neither a program of this machine nor a script", false},
		"an archive":       {text("\x1f\x8b\x08", 0o644), "is an archive: bothy plugins install takes what is in it", false},
		"not executable":   {text("#!/bin/sh\n", 0o644), "is not executable (-rw-r--r--): run chmod +x on it", false},
		"everybody's":      {text("#!/bin/sh\n", 0o757), "can be changed by everybody (-rwxr-xrwx): run chmod o-w on it", false},
		"another computer": {foreign, "was built for EM_SPARCV9, this machine is ", false},
	} {
		path := c.make(t)
		b, fail := newInspector(t).Find(Spec{Path: path})
		if fail == nil {
			_ = b.Close() // the test has failed
			t.Errorf("%s: it was taken", name)
			continue
		}
		if !strings.Contains(fail.Error(), c.want) || fail.Missing != c.missing || !fail.Permanent {
			t.Errorf("%s: %+v, want %s", name, fail, c.want)
		}
	}
}

// TestOwner: a file of somebody else is nobody's plugin, but for one of root.
func TestOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	path := copyOf(t, 0o755)
	if err := os.Chown(path, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	s := newInspector(t)
	for range 2 { // root opens it, and never believes that it stayed what it was
		b, fail := s.Verified(Spec{Path: path})
		if fail != nil || b.Close() != nil || s.kept(path).Identity != "" {
			t.Errorf("%v %+v", fail, s.kept(path))
		}
	}
}

// TestFind: where a file is looked for says where it comes from.
func TestFind(t *testing.T) {
	libexec := t.TempDir()
	if err := os.Rename(copyOf(t, 0o755), filepath.Join(libexec, "bothy-plugin-fault")); err != nil {
		t.Fatal(err)
	}
	store, _ := stored(t)
	s := New(Config{Log: quiet, Libexec: libexec, Installed: store, DataDir: t.TempDir()})
	st, err := s.Add(t.Context(), faultBinary)
	if err != nil {
		t.Fatal(err)
	}
	for want, spec := range map[string]Spec{
		"bundled": {Plugin: "fault"},
		"store":   {Plugin: "fault", Path: st.Path},
		"path":    {Plugin: "fault", Path: faultBinary},
	} {
		b, fail := s.Find(spec)
		if fail != nil {
			t.Fatal(fail)
		}
		if b.Origin != want || b.Path != s.PathOf(spec) || b.Program != b.Path || b.Close() != nil {
			t.Errorf("%+v, want %s", b, want)
		}
		if pin := b.PinnedBy(spec); (pin == PinBundled) != (want == "bundled") {
			t.Errorf("%s: pinned by %q", want, pin)
		}
	}
}

// TestBeside: a script reads the folder that it lies in, unless more than the script's own
// lies there.
func TestBeside(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	folder, program := bundleOf(t, faultBundle), copyOf(t, 0o755)
	bundled, err := OpenBinary(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer bundled.Close()
	for _, c := range []struct {
		b    *Binary
		want []string
	}{
		{&Binary{Verified: Verified{Path: program}}, nil},
		{bundled, []string{folder}},
		{&Binary{Verified: Verified{Path: "/opt/tools/x", Script: true}}, []string{"/opt/tools"}},
		{&Binary{Verified: Verified{Path: "/x", Script: true}}, nil},
		{&Binary{Verified: Verified{Path: filepath.Join(home, "x"), Script: true}}, nil},
		{&Binary{Verified: Verified{Path: filepath.Join(filepath.Dir(home), "x"), Script: true}}, nil},
		{&Binary{Verified: Verified{Path: home + "-of-another/x", Script: true}}, []string{home + "-of-another"}},
		{&Binary{Verified: Verified{Path: filepath.Join(home, "tools", "x"), Script: true}}, []string{filepath.Join(home, "tools")}},
	} {
		if got := c.b.Beside(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.b.Path, got, c.want)
		}
	}
}

// TestLook: what a start would find is another thing when anything of it changes, and the
// folders of a bundle are watched, but not those that do not belong to it.
func TestLook(t *testing.T) {
	store, s := stored(t)
	if id, folders := s.Look(filepath.Join(store, "nothing")); id != "" || folders != nil {
		t.Errorf("of nothing: %q %v", id, folders)
	}
	file := laid(t, "x", "no plugin at all")
	was, folders := s.Look(file)
	if was == "" || folders != nil {
		t.Errorf("of a file: %q %v", was, folders)
	}
	if err := os.Chmod(file, 0o700); err != nil {
		t.Fatal(err)
	}
	if now, _ := s.Look(file); now == was {
		t.Error("another mode is nothing new")
	}
	dir := bundleOf(t, faultBundle)
	was, folders = s.Look(dir)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{".", "bin", "lib"} {
		if !slices.Contains(folders, filepath.Join(real, sub)) {
			t.Errorf("%s is not watched: %v", sub, folders)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "lib/words"), []byte("three"), 0o755); err != nil {
		t.Fatal(err)
	}
	if now, _ := s.Look(dir); now == was {
		t.Error("another file of a bundle is nothing new")
	}
	for n := range mostFolders + 10 {
		if err := os.Mkdir(filepath.Join(dir, "lib", fmt.Sprint(n)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if _, folders := s.Look(dir); len(folders) != mostFolders {
		t.Errorf("%d folders are watched", len(folders))
	}
	st, err := s.Add(t.Context(), bundleOf(t, faultBundle))
	if err != nil {
		t.Fatal(err)
	}
	if id, folders := s.Look(st.Path); id == "" || folders != nil {
		t.Errorf("of a bundle in the store: %q %v", id, folders)
	}
}
