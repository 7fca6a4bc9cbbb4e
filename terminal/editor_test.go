package main

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// TestEdited: what an editor left is the prompt, or stays in its file, which is named.
func TestEdited(t *testing.T) {
	t.Setenv("HOME", t.TempDir()) // so that no file of the test is named with ~
	failed := errors.New("exit status 1")
	for _, tt := range []struct {
		name, left string
		err        error
		want       string
		kept       bool
	}{
		{"edited", "new\n", nil, "new", false},
		{"failed, and edited", "an hour of writing", failed, "old", true},
		{"failed at once", "old", failed, "old", false},
		{"too long", strings.Repeat("x", mostInput+1), nil, "old", true},
	} {
		c := alone(t, 200, 24)
		c.in.set("old")
		file, err := c.editedFile()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(tt.left), 0o600); err != nil {
			t.Fatal(err)
		}
		c.wasEdited(edited{file, tt.err})
		text, err := os.ReadFile(file)
		if kept := err == nil && string(text) == tt.left; kept != tt.kept || c.in.text() != tt.want {
			t.Errorf("%s: the file stays: %v; the input is %q", tt.name, kept, c.in.text())
		}
		if said := strings.ReplaceAll(c.said(), "\n", ""); strings.Contains(strings.ReplaceAll(said, " ", ""), file) != tt.kept || (said == "") != (tt.want == "new") {
			t.Errorf("%s: it says %q of %s", tt.name, said, file)
		}
	}
}
