package credential

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", FileName)
	keys := map[string]string{"A": "a \"quoted\"\nvalue", "B": "b"}
	if err := writeFile(path, keys); err != nil {
		t.Fatal(err)
	}
	if got, err := readFile(path); err != nil || !maps.Equal(got, keys) {
		t.Errorf("%v, %v", got, err)
	}
	for at, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700 | os.ModeDir} {
		if info, err := os.Stat(at); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", at, info.Mode(), err)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("left beside it: %v, %v", left, err)
	}
}

// TestAFileThatIsNotUsed: each is refused with a reason that has nothing of it, and is not
// replaced.
func TestAFileThatIsNotUsed(t *testing.T) {
	for name, x := range map[string]struct {
		says string
		make func(path string) error
	}{
		"readable by others": {"chmod 600", func(path string) error { return os.WriteFile(path, []byte(`{"A":"canary"}`), 0o640) }},
		"a link": {"link", func(path string) error {
			if err := os.WriteFile(path+".there", []byte(`{"A":"canary"}`), 0o600); err != nil {
				return err
			}
			return os.Symlink(path+".there", path)
		}},
		"a folder":    {"no regular file", func(path string) error { return os.Mkdir(path, 0o700) }},
		"no JSON":     {"no JSON object", func(path string) error { return os.WriteFile(path, []byte("A=canary"), 0o600) }},
		"a number":    {"no JSON object", func(path string) error { return os.WriteFile(path, []byte(`{"A":7}`), 0o600) }},
		"too long":    {"1 MiB", func(path string) error { return os.WriteFile(path, make([]byte, maxFile+1), 0o600) }},
		"no place":    {"not a directory", func(path string) error { return nil }},
		"of one line": {"no JSON object", func(path string) error { return os.WriteFile(path, []byte(`"canary"`), 0o600) }},
	} {
		f := newFixture(t)
		if err := os.MkdirAll(filepath.Dir(f.Path()), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := x.make(f.Path()); err != nil {
			t.Fatal(err)
		}
		if name == "no place" {
			if err := os.WriteFile(f.Path()+".d", nil, 0o600); err != nil {
				t.Fatal(err)
			}
			f.path = filepath.Join(f.Path()+".d", FileName)
		}
		f.Expect([]string{"A"})
		_, err := f.Find("A")
		if err == nil || !strings.Contains(err.Error(), x.says) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := f.Login(t.Context(), "B", "value-b", true); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: written all the same: %v", name, err)
		}
	}
}

func FuzzParseFile(f *testing.F) {
	for _, text := range []string{`{"A":"a"}`, `{}`, `null`, `{"A":"a","A":"b"}`, `{"A":null}`, `[`, "\x00", `{"A":{"B":"c"}}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		keys, err := parseFile(text)
		if err != nil {
			if len(keys) != 0 {
				t.Errorf("%d keys beside an error", len(keys))
			}
			return
		}
		path := filepath.Join(t.TempDir(), FileName)
		if err := writeFile(path, keys); err != nil {
			t.Fatal(err)
		}
		if again, err := readFile(path); err != nil || !maps.Equal(again, keys) {
			t.Errorf("%q was written and read as %q, %v", keys, again, err)
		}
	})
}
