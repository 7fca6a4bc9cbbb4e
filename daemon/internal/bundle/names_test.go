package bundle

import (
	"path"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// deep is a path of so many names.
func deep(n int) string { return strings.TrimSuffix(strings.Repeat("a/", n), "/") }

func TestPaths(t *testing.T) {
	for name, want := range map[string]string{ // empty is taken
		"a":                             "",
		"a/b.c/-d":                      "",
		"..a/b..":                       "",
		"ä/日本":                          "",
		" ":                             "",
		strings.Repeat("a", 255):        "",
		deep(mostDepth):                 "",
		"":                              "is empty",
		".":                             "shortest form",
		"..":                            "leads out of the folder",
		"a/..":                          "shortest form",
		"a/../../b":                     "leads out of the folder",
		"./a":                           "shortest form",
		"a/":                            "shortest form",
		"a//b":                          "shortest form",
		"/a":                            "is absolute",
		"a\\b":                          "has a character",
		"a\x00b":                        "",
		"a\nb":                          "has a character",
		"a\x7f":                         "has a character",
		"a\u0085b":                      "has a character",
		"\xff":                          "has a character",
		deep(mostDepth + 1):             "has more than 64 folders",
		strings.Repeat("a", 256):        "is longer than 255 bytes",
		strings.Repeat("a/", 600) + "b": "is longer than 1024 bytes",
	} {
		err := checkPath(name)
		if strings.ContainsRune(name, 0) {
			want = "the path" // how it is refused is the system's
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.40q: %v, want %q", name, err, want)
		}
		if err != nil && len(err.Error()) > 400 {
			t.Errorf("%.40q: %d bytes say so", name, len(err.Error()))
		}
	}
}

func TestLinks(t *testing.T) {
	for _, c := range []struct{ name, target, want string }{
		{"a", "b", ""},
		{"a/b/c", "../../d", ""},
		{"a/b", "..", ""},
		{"a", ".", ""},
		{"a", "", "links lead to something in the bundle"},
		{"a", "/b", "links lead to something in the bundle"},
		{"a", "..", "leads out of the folder"},
		{"a/b", "../..", "leads out of the folder"},
		{"a/b", "../../a/b", "leads out of the folder"},
		{"a", "b/../c", "shortest form"},
		{"a", "b/", "shortest form"},
		{"a", "./b", "shortest form"},
	} {
		err := checkLink(c.name, c.target)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s -> %q: %v, want %q", c.name, c.target, err, c.want)
		}
	}
}

// TestSeen: a name that some file system takes for another one is refused, however it is
// met: as a file, or as a folder on the way.
func TestSeen(t *testing.T) {
	for name, c := range map[string]struct {
		met  []string
		want string
	}{
		"others":          {[]string{"a", "b/c", "b/d", "e/c"}, ""},
		"the same again":  {[]string{"a/b", "a/b"}, ""},
		"case":            {[]string{"Read.me", "read.ME"}, `"Read.me" and "read.ME"`},
		"a folder's case": {[]string{"lib/a", "LIB/b"}, `"lib" and "LIB"`},
		"a deep one":      {[]string{"a/b/C/d", "a/b/c"}, `"a/b/C" and "a/b/c"`},
		"composed":        {[]string{"caf\u00e9", "cafe\u0301"}, "differ only in what some file systems"},
		"a path":          {[]string{"../a"}, "leads out"},
	} {
		s, err := seen{}, error(nil)
		for _, name := range c.met {
			if err == nil {
				err = s.add(name)
			}
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	s := seen{}
	if err := s.add("lib/a/b"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{".": true, "lib": true, "lib/a": true, "lib/a/b": true, "LIB": false, "lib/a/b/c": false, "b": false} {
		if s.has(name) != want {
			t.Errorf("%q is there: %v", name, !want)
		}
	}
}

func TestBudget(t *testing.T) {
	for name, c := range map[string]struct {
		sizes []int64
		want  string
	}{
		"as much as one may have":  {[]int64{MostFile, 0, MostFile}, ""},
		"all that all may have":    {[]int64{MostFile, MostFile, MostFile, MostFile}, ""},
		"one too large":            {[]int64{MostFile + 1}, "x is larger than 256 MB"},
		"all too large":            {[]int64{MostFile, MostFile, MostFile, MostFile, 1}, "its files are larger than 1024 MB together"},
		"a size that is none":      {[]int64{-1}, "x is larger than 256 MB"},
		"the largest there can be": {[]int64{1, 1<<63 - 1}, "x is larger than 256 MB"},
		"as many as there may be":  {make([]int64, MostFiles), ""},
		"too many":                 {make([]int64, MostFiles+1), "it has more than 100000 files"},
	} {
		var b budget
		var err error
		for _, size := range c.sizes {
			if err == nil {
				err = b.take("x", size)
			}
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// FuzzPaths: a path that is taken lies below the folder, on each system by the same name,
// and so does what a link from there leads to.
func FuzzPaths(f *testing.F) {
	for _, s := range [][2]string{{"a/b", "../c"}, {"..", "."}, {"a\\b", "c:d"}, {"a\x00", "/"}, {"A/ß", "ss"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, name, target string) {
		if checkPath(name) != nil {
			return
		}
		if !filepath.IsLocal(name) || path.Clean(name) != name || !utf8.ValidString(name) || strings.ContainsAny(name, "\\\n\x00") {
			t.Errorf("%q was taken", name)
		}
		if at := path.Join(path.Dir(name), target); checkLink(name, target) == nil && (!filepath.IsLocal(at) || path.IsAbs(target)) {
			t.Errorf("%q was taken as a link to %q", name, target)
		}
		s := seen{}
		for range 2 { // the same one again is no other
			if err := s.add(name); err != nil {
				t.Error(err)
			}
		}
		if !s.has(name) || !s.has(path.Dir(name)) {
			t.Errorf("%q is not there", name)
		}
	})
}
