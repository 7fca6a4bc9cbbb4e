package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSettings: what is set is there again, for the user alone, beside members that this
// version does not know; a damaged file is told of.
func TestSettings(t *testing.T) {
	state := filepath.Join(t.TempDir(), "terminal")
	s, err := readSettings(state)
	if err != nil || s.text("keys") != "" {
		t.Fatalf("at first: %q, %v", s.text("keys"), err)
	}
	if err := s.set("keys", "vi"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(state, "settings.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, tt := range []struct{ text, keys, kept string }{
		{`{"keys":"vi","later":{"a":[1]}}`, "vi", `"later": {`},
		{`{"keys":7}`, "", ""},
		{`{"keys":"vi"`, "", ""},
		{`null`, "", ""},
		{`[]`, "", ""},
	} {
		if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := readSettings(state)
		if damaged := !strings.HasSuffix(tt.text, "}"); s.text("keys") != tt.keys || (err != nil) != damaged {
			t.Errorf("%s: %q, %v", tt.text, s.text("keys"), err)
		}
		if err := s.set("keys", "emacs"); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), tt.kept) || !strings.Contains(string(text), `"emacs"`) {
			t.Errorf("%s became %s, %v", tt.text, text, err)
		}
	}
}
