package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSettings: what is set is there again, for the user alone, beside members that this
// version does not know; a damaged file is told of, and stays as it is.
func TestSettings(t *testing.T) {
	state := filepath.Join(t.TempDir(), "terminal")
	s := readSettings(state)
	if s.mistake != nil || s.text("keys") != "" {
		t.Fatalf("at first: %q, %v", s.text("keys"), s.mistake)
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
		s := readSettings(state)
		damaged := !strings.HasSuffix(tt.text, "}")
		if s.text("keys") != tt.keys || (s.mistake != nil) != damaged {
			t.Errorf("%s: %q, %v", tt.text, s.text("keys"), s.mistake)
		}
		if err := s.set("keys", "emacs"); (err != nil) != damaged {
			t.Errorf("%s: it is set with %v", tt.text, err)
		}
		text, err := os.ReadFile(file)
		right := strings.Contains(string(text), tt.kept) && strings.Contains(string(text), `"emacs"`)
		if damaged {
			right = string(text) == tt.text
		}
		if err != nil || !right {
			t.Errorf("%s became %s, %v", tt.text, text, err)
		}
	}
}
