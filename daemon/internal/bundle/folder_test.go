package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNoBundle: what lies where a manifest should is opened by nobody who could wait for
// it, and is no manifest.
func TestNoBundle(t *testing.T) {
	for name, c := range map[string]struct {
		lay  func(dir string) error
		want string
		none bool // it is no bundle at all
	}{
		"an empty folder": {func(string) error { return nil }, "", true},
		"no folder":       {func(dir string) error { return os.Remove(dir) }, "", true},
		"a folder":        {func(dir string) error { return os.Mkdir(filepath.Join(dir, ManifestName), 0o755) }, "bothy-plugin.hcl is no file (d", false},
		"a pipe":          {func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, ManifestName), 0o644) }, "bothy-plugin.hcl is no file (p", false},
		"a link out":      {func(dir string) error { return os.Symlink("/etc/passwd", filepath.Join(dir, ManifestName)) }, "escapes", false},
		"a dangling link": {func(dir string) error { return os.Symlink("nothing", filepath.Join(dir, ManifestName)) }, "", true},
		"empty":           {func(dir string) error { return os.WriteFile(filepath.Join(dir, ManifestName), nil, 0o644) }, `"name" is required`, false},
		"endless":         {func(dir string) error { return os.Truncate(filepath.Join(dir, ManifestName), 1<<40) }, "larger than 16 KB", false},
	} {
		dir := t.TempDir()
		if name == "endless" {
			if err := os.WriteFile(filepath.Join(dir, ManifestName), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.lay(dir); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) != c.none || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestLook: what belongs to a bundle, and what is looked at on the way; what cannot belong
// to one is refused only where it would.
func TestLook(t *testing.T) {
	files := usual()
	files[ManifestName] += `files = ["run", "lib/**", "!lib/b/**", ".bin/*"]`
	files["__pycache__/x"], files["lib/.git/config"], files["other/LIB"], files["lib/B"] = "", "", "", ""
	dir := lay(t, files)
	for _, name := range []string{"lib/.git/pipe", "other/pipe"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := opened(t, dir).Look()
	if err != nil {
		t.Fatal(err)
	}
	var entries, places []string
	for _, e := range tree.Entries {
		entries = append(entries, string(e.Kind)+" "+e.Path)
	}
	for _, p := range tree.Places {
		places = append(places, p.Path)
	}
	if want := []string{"link .bin/a", "file bothy-plugin.hcl", "file lib/B", "file lib/a.py", "exec run"}; !slices.Equal(entries, want) {
		t.Errorf("%q, want %q", entries, want)
	}
	for _, name := range []string{"__pycache__", "lib/.git", "lib/.git/config", "other/LIB"} {
		if slices.Contains(places, name) {
			t.Errorf("%s was looked at: %q", name, places)
		}
	}
	for _, name := range []string{".", "lib", "lib/b", "run", ".bin/a"} {
		if !slices.Contains(places, name) {
			t.Errorf("%s was not looked at: %q", name, places)
		}
	}
	whole := opened(t, dir)
	whole.Whole = true
	if _, err := whole.Look(); err == nil || !strings.Contains(err.Error(), "is neither a file, a folder nor a link (p") && !strings.Contains(err.Error(), "differ only") {
		t.Errorf("in the store all counts: %v", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := whole.Look(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a folder that is gone: %v", err)
	}
}

// TestLarge: a file that is too large is refused by its size, before it is read.
func TestLarge(t *testing.T) {
	dir := lay(t, usual())
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "lib/large"), nil, 0o644), os.Truncate(filepath.Join(dir, "lib/large"), 1<<40)); err != nil {
		t.Fatal(err)
	}
	f := opened(t, dir)
	for name, do := range map[string]func() error{
		"sum":  func() error { _, err := f.Sum(); return err },
		"copy": func() error { return f.Copy(t.TempDir()) },
		"pack": func() error { return f.Pack(io.Discard) },
	} {
		if err := do(); err == nil || err.Error() != "lib/large is larger than 256 MB" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOtherwiseRead: a file that became smaller while it was read is no whole file.
func TestOtherwiseRead(t *testing.T) {
	for text, want := range map[string]string{"": "a became smaller", "ab": "a became smaller", "abc": "", "abcd": ""} {
		var out bytes.Buffer
		err := copyAll(&out, strings.NewReader(text), Entry{Path: "a", Size: 3})
		if want == "" && (err != nil || out.String() != "abc") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %q %v", text, out.String(), err)
		}
	}
	dir := lay(t, usual())
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, e := range map[string]Entry{"gone": {Path: "lib/x", Size: 1}, "a folder now": {Path: "lib/b", Size: 1}, "a link out now": {Path: "out", Size: 1}} {
		_ = os.Symlink("/etc/passwd", filepath.Join(dir, "out")) // there from the second on
		if err := readInto(io.Discard, root, e); err == nil {
			t.Errorf("%s: it was read", name)
		}
	}
}

// TestCopyElsewhere: a copy is made in an empty folder, or fails without a change of what
// is there.
func TestCopyElsewhere(t *testing.T) {
	f := opened(t, lay(t, usual()))
	for name, files := range map[string]map[string]string{
		"a file of the same name": {"run": "mine"},
		"a link in its way":       {"lib": "->/tmp"},
		"a file for a folder":     {"lib": "mine"},
	} {
		to := lay(t, files)
		if err := f.Copy(to); err == nil {
			t.Errorf("%s: it was copied", name)
		}
		for at, text := range files {
			if got, err := os.ReadFile(filepath.Join(to, at)); !strings.HasPrefix(text, "->") && (err != nil || string(got) != text) {
				t.Errorf("%s: %q %v", name, got, err)
			}
		}
	}
	if err := f.Copy(filepath.Join(t.TempDir(), "nothing")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := f.Copy(f.Dir); err == nil {
		t.Error("copied onto itself")
	}
}

// TestRemove: whatever modes it has, a folder goes as a whole, and what links in it lead
// to stays.
func TestRemove(t *testing.T) {
	outside := lay(t, map[string]string{"kept": "x"})
	if err := os.Chmod(outside, 0o500); err != nil {
		t.Fatal(err)
	}
	dir := lay(t, map[string]string{"a/b/c": "x", "a/d": "x", "out": "->" + outside, "a/dangling": "->nothing"})
	for _, at := range []string{"a/b/c", "a/b", "a", "."} {
		if err := os.Chmod(filepath.Join(dir, at), 0); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // one that is gone is gone
		if err := Remove(dir); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if info, err := os.Stat(outside); err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	file := filepath.Join(lay(t, map[string]string{"x": "y"}), "x")
	if err := Remove(file); err != nil {
		t.Error(err)
	}
}

// TestArchivesOtherwise: more of what an archive may hold, and how it may end.
func TestArchivesOtherwise(t *testing.T) {
	file := func(name string) tar.Header { return tar.Header{Name: name, Size: 1} }
	plain := archived(t, file("a"))
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	if _, err := zip.Write([]byte("no archive, only " + strings.Repeat("text ", 200))); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for name, c := range map[string]struct {
		ctx     context.Context
		archive []byte
		want    string // empty is taken
	}{
		"nothing in it":      {t.Context(), archived(t), ""},
		"a folder twice":     {t.Context(), archived(t, tar.Header{Name: "a/", Typeflag: tar.TypeDir}, tar.Header{Name: "a", Typeflag: tar.TypeDir}, file("a/b")), ""},
		"a folder late":      {t.Context(), archived(t, file("a/b"), tar.Header{Name: "a/", Typeflag: tar.TypeDir}), ""},
		"a mode of none":     {t.Context(), archived(t, tar.Header{Name: "a/", Typeflag: tar.TypeDir, Mode: 0}, file("a/b")), ""},
		"a file as a folder": {t.Context(), archived(t, file("a"), file("a/b")), "make the folder of a/b: "},
		"a folder as a file": {t.Context(), archived(t, file("a/b"), file("a")), "it has a twice"},
		"a link as a folder": {t.Context(), archived(t, tar.Header{Name: "a", Linkname: "b", Typeflag: tar.TypeSymlink}, file("a/x")), "it has a twice"},
		"a link twice":       {t.Context(), archived(t, tar.Header{Name: "a", Linkname: "b", Typeflag: tar.TypeSymlink}, tar.Header{Name: "a", Linkname: "c", Typeflag: tar.TypeSymlink}), "it has a twice"},
		"a link to itself":   {t.Context(), archived(t, tar.Header{Name: "a", Linkname: "a", Typeflag: tar.TypeSymlink}), ""}, // the look refuses it
		"no name":            {t.Context(), archived(t, file(".")), "the path"},
		"a part of a kind":   {t.Context(), archived(t, tar.Header{Name: "a", Typeflag: 'Z'}), "a is of the kind 'Z': a bundle has files"},
		"given up":           {ended, plain, "context canceled"},
		"cut off":            {t.Context(), plain[:len(plain)-12], "unexpected EOF"},
		"a wrong sum":        {t.Context(), append(slices.Clone(plain[:len(plain)-8]), make([]byte, 8)...), "checksum"},
		"more behind it":     {t.Context(), append(slices.Clone(plain), []byte("more than a header takes")...), "it cannot be read as .tar.gz: gzip: invalid header"},
		"no archive":         {t.Context(), zipped.Bytes(), "it cannot be read as .tar.gz"},
		"nothing":            {t.Context(), nil, "it cannot be read as .tar.gz: EOF"},
	} {
		dir := t.TempDir()
		err := Unpack(c.ctx, bytes.NewReader(c.archive), dir)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if err := Unpack(t.Context(), bytes.NewReader(plain), filepath.Join(t.TempDir(), "nothing")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	b := &bounded{r: strings.NewReader(strings.Repeat("x", 100)), left: 10}
	if text, err := io.ReadAll(b); len(text) != 10 || err == nil || err.Error() != "it is larger than any bundle may be" {
		t.Errorf("%q %v", text, err)
	}
}

// TestPackedAnyTime: neither times nor the bits of a mode that do not count are in an
// archive, and each that does is.
func TestPackedAnyTime(t *testing.T) {
	pack := func(f *Folder) string {
		t.Helper()
		var out bytes.Buffer
		if err := f.Pack(&out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	dir := lay(t, usual())
	f := opened(t, dir)
	was := pack(f)
	at := filepath.Join(dir, "lib/a.py")
	for name, c := range map[string]struct {
		change func() error
		same   bool
	}{
		"a time":          {func() error { return os.Chtimes(at, time.Unix(1, 0), time.Unix(2, 0)) }, true},
		"an owner's bits": {func() error { return os.Chmod(at, 0o600) }, true},
		"an empty folder": {func() error { return os.Mkdir(filepath.Join(dir, "empty"), 0o755) }, true},
	} {
		if err := c.change(); err != nil {
			t.Fatal(err)
		}
		if (pack(f) == was) != c.same {
			t.Errorf("%s: the archive is the same: %v", name, !c.same)
		}
	}
	if err := os.Chmod(at, 0o744); err != nil {
		t.Fatal(err)
	}
	if pack(f) == was {
		t.Error("who may execute it is not in the archive")
	}
	if f.ArchiveName() != "words-1.0.0.tar.gz" {
		t.Error(f.ArchiveName())
	}
	if err := os.Remove(filepath.Join(dir, "run")); err != nil {
		t.Fatal(err)
	}
	if err := f.Pack(io.Discard); err == nil || !strings.Contains(err.Error(), "which is not there: build it first") {
		t.Error(err)
	}
}

// FuzzListing: a listing was kept somewhere; whatever stands there, what changed is said in
// a line of a few names.
func FuzzListing(f *testing.F) {
	line := "file " + strings.Repeat("0", 64) + " a\n"
	for _, s := range [][2]string{{listingHead + "\n" + line, listingHead + "\n"}, {line, strings.Replace(line, "file", "x", 1)}, {line, strings.Replace(line, "0 a", "1 a", 1)}, {" ", "\n\n"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, was, now string) {
		a, b := Listing(was), Listing(now)
		if said := a.Changes(a); said != "" {
			t.Errorf("%q is not itself: %s", was, said)
		}
		if said, back := a.Changes(b), b.Changes(a); (said == "") != (back == "") || strings.Count(said, ", ") > shown && !strings.Contains(was+now, ", ") {
			t.Errorf("%q to %q: %s, and back: %s", was, now, said, back)
		}
		if a.Files() < 0 || len(a.Digest()) != 64 {
			t.Errorf("%q has %d files", was, a.Files())
		}
	})
}
