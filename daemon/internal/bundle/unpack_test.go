package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// archived is an archive of these headers; a content is zeros.
func archived(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	w := tar.NewWriter(zip)
	for _, h := range headers {
		if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, h.Size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// promised is an archive whose one file is said to have a size, and that ends behind
// its header.
func promised(t testing.TB, size int64) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if err := tar.NewWriter(zip).WriteHeader(&tar.Header{Name: "a", Typeflag: tar.TypeReg, Size: size}); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestHostileArchives: each is refused in a sentence, and writes nothing outside.
func TestHostileArchives(t *testing.T) {
	many := make([]tar.Header, MostFiles+1)
	for n := range many {
		many[n] = tar.Header{Name: "./", Typeflag: tar.TypeDir}
	}
	file := func(name string) tar.Header { return tar.Header{Name: name, Size: 1} }
	link := func(name, target string) tar.Header {
		return tar.Header{Name: name, Linkname: target, Typeflag: tar.TypeSymlink}
	}
	for want, archive := range map[string][]byte{
		`the path "../a" leads out of the folder`:                        archived(t, file("../a")),
		`the path "a/../../b" leads out of the folder`:                   archived(t, file("a/../../b")),
		`the path "/etc/a" is absolute`:                                  archived(t, file("/etc/a")),
		`the path "a//b" is not written in its shortest form`:            archived(t, file("a//b")),
		`the path "a\\b" has a character that no file of a plugin needs`: archived(t, file(`a\b`)),
		`a is a link to "../../x", which leads out of the folder`:        archived(t, link("a", "../../x")),
		`a is a link to "/x": links lead to something in the bundle`:     archived(t, link("a", "/x")),
		"it has a twice":                       archived(t, file("a"), file("a")),
		"it has l twice":                       archived(t, file("b/c"), link("l", "b"), file("l/d")),
		`"a/B" and "a/b" differ only in what`:  archived(t, file("a/B"), file("a/b")),
		`"A" and "a" differ only in what`:      archived(t, file("A/x"), file("a/y")),
		`"straße" and "strasse" differ only`:   archived(t, file("straße"), file("strasse")),
		"a is a hard link: a bundle has files": archived(t, file("b"), tar.Header{Name: "a", Linkname: "b", Typeflag: tar.TypeLink}),
		"a is a device: a bundle has files":    archived(t, tar.Header{Name: "a", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3}),
		"a is a named pipe: a bundle has":      archived(t, tar.Header{Name: "a", Typeflag: tar.TypeFifo}),
		"a is larger than 256 MB":              promised(t, MostFile+1),
		"it has more than 100000 files":        archived(t, many...),
		"it cannot be read as .tar.gz":         []byte("\x1f\x8bno"),
		"it is cut off within a":               promised(t, 1),
		"more than 64 folders":                 archived(t, file(strings.Repeat("a/", 70)+"b")),
	} {
		outer := lay(t, nil)
		dir := filepath.Join(outer, "in")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		err := Unpack(t.Context(), bytes.NewReader(archive), dir)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if left, err := os.ReadDir(outer); err != nil || len(left) != 1 {
			t.Errorf("%s: it wrote %v outside (%v)", want, left, err)
		}
	}
}

// TestForeignArchive: what tar makes of a folder is taken as well.
func TestForeignArchive(t *testing.T) {
	dir := lay(t, nil)
	archive := archived(t, tar.Header{Name: "pax", Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "x"}},
		tar.Header{Name: "./", Typeflag: tar.TypeDir}, tar.Header{Name: "./lib/", Typeflag: tar.TypeDir}, tar.Header{Name: "./lib/a", Size: 3, Mode: 0o4777}, tar.Header{Name: "./b", Linkname: "lib", Typeflag: tar.TypeSymlink})
	if err := Unpack(t.Context(), bytes.NewReader(archive), dir); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "b", "a"))
	if err != nil || info.Mode() != 0o555 || info.Size() != 3 {
		t.Errorf("%v %v", info, err)
	}
}

// FuzzUnpack: whatever an archive holds, nothing is written outside its folder, and
// what was taken can be looked at and packed.
func FuzzUnpack(f *testing.F) {
	raw := func(headers ...tar.Header) []byte {
		zip, err := gzip.NewReader(bytes.NewReader(archived(f, headers...)))
		if err != nil {
			f.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := out.ReadFrom(zip); err != nil {
			f.Fatal(err)
		}
		return out.Bytes()
	}
	f.Add(raw(tar.Header{Name: "a/b", Size: 3}, tar.Header{Name: "c", Linkname: "a", Typeflag: tar.TypeSymlink}))
	f.Add(raw(tar.Header{Name: "../a", Size: 3}))
	f.Fuzz(func(t *testing.T, archive []byte) {
		var zipped bytes.Buffer
		zip := gzip.NewWriter(&zipped)
		_, _ = zip.Write(archive) // a Buffer never fails
		_ = zip.Close()
		outer := t.TempDir()
		dir := filepath.Join(outer, "in")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		taken := Unpack(t.Context(), &zipped, dir) == nil
		left, err := os.ReadDir(outer)
		if err != nil || len(left) != 1 {
			t.Fatalf("it wrote %v (%v)", left, err)
		}
		err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !d.Type().IsRegular() && d.Type() != fs.ModeSymlink {
				t.Errorf("it made %s, a %v", name, d.Type())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		folder := &Folder{Dir: dir, Whole: true}
		if tree, err := folder.Look(); taken && err == nil && len(tree.Entries) == 0 {
			t.Error("nothing to start, and no complaint")
		}
	})
}

// FuzzManifest: whatever is written, a manifest that is taken starts a file that
// belongs to it.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(words))
	f.Add([]byte(words + `files = ["a/**", "!{b,c}"]` + "\nargs = [\"${1}\"]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := ParseManifest(text)
		if err != nil {
			return
		}
		if !m.Has(m.Start) || !m.Has(ManifestName) || !filepath.IsLocal(m.Start) || m.Name == "" || strings.Contains(m.ArchiveName(), "/") {
			t.Errorf("%+v", m)
		}
	})
}
