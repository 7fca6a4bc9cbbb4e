package bundle

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const words = `name = "words"
version = "1.0.0"
start = "run"
`

// lay makes a folder of files; a content that begins with -> is a link, and one
// that begins with #! can be executed.
func lay(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() { _ = Remove(dir) })
	for name, content := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		target, link := strings.CutPrefix(content, "->")
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(content, "#!") {
			mode = 0o755
		}
		err := os.WriteFile(at, []byte(content), mode)
		if link {
			err = errors.Join(os.Remove(at), os.Symlink(target, at))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// usual are the files of a bundle.
func usual() map[string]string {
	return map[string]string{
		ManifestName: words, "run": "#!/bin/sh\n", "lib/a.py": "a", "lib/b/c.py": "c", ".bin/a": "->../lib/a.py", "all": "->lib",
	}
}

func opened(t testing.TB, dir string) *Folder {
	t.Helper()
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func sum(t testing.TB, f *Folder) Listing {
	t.Helper()
	l, err := f.Sum()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestManifest(t *testing.T) {
	for name, test := range map[string]struct{ text, fails string }{
		"whole":               {words + `args = ["-v"]` + "\nfiles = [\"run\", \"lib/**\", \"!**/*.log\"]", ""},
		"no start":            {`name = "a"` + "\nversion = \"1\"\n", `"start" is required`},
		"unknown":             {words + "strat = 1\n", "strat"},
		"a block":             {words + "plugin \"a\" {}\n", "plugin"},
		"a function":          {strings.Replace(words, `"words"`, `env("HOME")`, 1), "bothy-plugin.hcl:1"},
		"broken":              {"name = \n", "bothy-plugin.hcl:1"},
		"a name":              {strings.Replace(words, "words", "No", 1), "cannot be a plugin's name"},
		"a version":           {strings.Replace(words, "1.0.0", "1/2", 1), "cannot be a version"},
		"out":                 {strings.Replace(words, `"run"`, `"../run"`, 1), "leads out of the folder"},
		"absolute":            {strings.Replace(words, `"run"`, `"/bin/sh"`, 1), "is absolute"},
		"long way":            {strings.Replace(words, `"run"`, `"a/../run"`, 1), "shortest form"},
		"start does not fit":  {words + `files = ["lib/**"]`, "no pattern of files has run"},
		"start is taken out":  {words + `files = ["!run"]`, "no pattern of files has run"},
		"a pattern":           {words + `files = ["[a"]`, "cannot be used"},
		"too large":           {words + strings.Repeat("#", mostManifest), "larger than 16 KB"},
		"deep":                {words + "args = " + strings.Repeat("[", 15<<10), "bothy-plugin.hcl"},
		"an argument of zero": {words + `args = ["a\u0000"]`, "zero byte"},
	} {
		_, err := ParseManifest([]byte(test.text))
		if test.fails == "" && err != nil || test.fails != "" && (err == nil || !strings.Contains(err.Error(), test.fails)) {
			t.Errorf("%s: %v, want %q", name, err, test.fails)
		}
	}
}

func TestHas(t *testing.T) {
	for _, test := range []struct {
		files string
		has   []string
		not   []string
	}{
		{``, []string{"run", "a/b/c", ".bin/x"}, []string{".git/config", "lib/__pycache__/a.pyc"}},
		{`"run", "*.py", "lib/**", "!**/test_*"`, []string{ManifestName, "a.py", "lib/b/c"}, []string{"b/a.py", "lib/test_a.py", "README"}},
		{`"**", "**/__pycache__/**"`, []string{"lib/__pycache__/a.pyc", "run"}, []string{".git/config", "a/.git/__pycache__/x"}},
	} {
		m, err := ParseManifest([]byte(words + "files = [" + test.files + "]"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Concat(test.has, test.not) {
			if want := slices.Contains(test.has, name); m.Has(name) != want {
				t.Errorf("%s: %s belongs to it: %v", test.files, name, !want)
			}
		}
	}
}

// TestListing holds the form of what is digested: a pin of today must hold tomorrow.
func TestListing(t *testing.T) {
	const want = `bothy-bundle 1
link a535f746b452b1e23adf9833bd07b7ed0afc3bb268b415e8921e8a1d9f1579bd .bin/a
link 76b5a357391276b282a516f54f48ef3c207f46d8192dc58c208d5183d38415f8 all
file 31af8607a584dcdc4fc35f66079ecc01cf8c10e3076249820743b16835001d0e bothy-plugin.hcl
file ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb lib/a.py
file 2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6 lib/b/c.py
exec a8076d3d28d21e02012b20eaf7dbf75409a6277134439025f282e368e3305abf run
`
	l := sum(t, opened(t, lay(t, usual())))
	if l != want || l.Files() != 6 || l.Digest() != "838dcf584f2bae491b188e8679f00a7e00078a495c4696d394bc24cf187e3ae0" {
		t.Errorf("%d files, %s:\n%s", l.Files(), l.Digest(), l)
	}
}

// TestChanges: each kind of change is another digest, and is named.
func TestChanges(t *testing.T) {
	for want, change := range map[string]func(dir string) error{
		"": func(dir string) error { return os.Mkdir(filepath.Join(dir, "empty"), 0o755) },
		"lib/a.py was changed": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "lib/a.py"), []byte("b"), 0o644)
		},
		"lib/d was added":    func(dir string) error { return os.WriteFile(filepath.Join(dir, "lib/d"), nil, 0o644) },
		"lib/b/c.py is gone": func(dir string) error { return os.RemoveAll(filepath.Join(dir, "lib/b")) },
		"lib/a.py is another kind of file (exec, not file)": func(dir string) error {
			return os.Chmod(filepath.Join(dir, "lib/a.py"), 0o755)
		},
		"all was changed": func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "all")), os.Symlink("lib/b", filepath.Join(dir, "all")))
		},
		"x0 was added, x1 was added, x2 was added, x3 was added, x4 was added, and 2 more": func(dir string) error {
			var err error
			for _, n := range "0123456" {
				err = errors.Join(err, os.WriteFile(filepath.Join(dir, "x"+string(n)), nil, 0o644))
			}
			return err
		},
	} {
		dir := lay(t, usual())
		f := opened(t, dir)
		was := sum(t, f)
		if err := change(dir); err != nil {
			t.Fatal(err)
		}
		now := sum(t, f)
		if have := was.Changes(now); have != want || (was.Digest() == now.Digest()) != (want == "") {
			t.Errorf("%q, want %q", have, want)
		}
	}
}

// TestRefused: what a bundle cannot have is said in a sentence.
func TestRefused(t *testing.T) {
	for want, change := range map[string]map[string]string{
		`a is a link to "/etc/passwd"`:                              {"a": "->/etc/passwd"},
		`a is a link to "../b", which leads out of the folder`:      {"a": "->../b"},
		`a is a link to "lib/../run", which is not written`:         {"a": "->lib/../run"},
		`a is a link to "nothing", which does not belong`:           {"a": "->nothing"},
		`"LIB" and "lib" differ only in what some file systems`:     {"LIB/x": ""},
		"has a character that no file":                              {"a\nb": ""},
		"it is to start run, which is not executable: run chmod +x": {"run": "program"},
		"it is to start run, which is no file":                      {"run": "->lib/a.py"},
	} {
		files := usual()
		for name, content := range change {
			files[name] = content
		}
		_, err := opened(t, lay(t, files)).Look()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	files := usual()
	delete(files, "run")
	if _, err := opened(t, lay(t, files)).Look(); err == nil || !strings.Contains(err.Error(), "which is not there: build it first") {
		t.Error(err)
	}
	if _, err := Open(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestCopy: a copy has the same digest, holds nothing else, and cannot be written.
func TestCopy(t *testing.T) {
	files := usual()
	files[ManifestName] += `files = ["run", "lib/**", ".bin/*", "all"]`
	files["notes"], files["lib/__pycache__/a.pyc"] = "mine", "cached"
	f := opened(t, lay(t, files))
	to := lay(t, nil)
	if err := f.Copy(to); err != nil {
		t.Fatal(err)
	}
	copied := opened(t, to)
	copied.Whole = true
	if have := sum(t, f).Changes(sum(t, copied)); have != "" {
		t.Error(have)
	}
	tree, err := copied.Look()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range tree.Places {
		if p.Info.Mode().Type() != fs.ModeSymlink && p.Info.Mode()&0o222 != 0 {
			t.Errorf("%s can be written: %v", p.Path, p.Info.Mode())
		}
	}
	if err := os.Chmod(filepath.Join(to, "lib"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to, "lib", "notes"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if have := sum(t, f).Changes(sum(t, copied)); have != "lib/notes was added" {
		t.Errorf("in the store all counts, also what no pattern has: %q", have)
	}
	if err := Remove(to); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestPack: an archive has the same bytes wherever its files lie and whatever times
// they have, and unpacked it is the same bundle.
func TestPack(t *testing.T) {
	var archives [2]bytes.Buffer
	for n := range archives {
		f := opened(t, lay(t, usual()))
		if err := f.Pack(&archives[n]); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			to := lay(t, nil)
			if err := Unpack(t.Context(), bytes.NewReader(archives[0].Bytes()), to); err != nil {
				t.Fatal(err)
			}
			if have := sum(t, f).Changes(sum(t, opened(t, to))); have != "" {
				t.Error(have)
			}
		}
	}
	if !bytes.Equal(archives[0].Bytes(), archives[1].Bytes()) {
		t.Error("the same files make other bytes")
	}
}
