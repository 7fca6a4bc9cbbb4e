package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/mcpfile"
)

// TestEditOf: the notes are those of the file and those of what is open.
func TestEditOf(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("PATH", home)
	s := mcpfile.Server{Label: "a", Command: mcpfile.Value{{Text: "npx"}}, Args: []mcpfile.Value{{{Text: home + "/notes"}}, {{Env: "X"}}}}
	if err := errors.Join(os.WriteFile(filepath.Join(home, "npx"), nil, 0o700), os.Mkdir(filepath.Join(home, "notes"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if e, notes := editOf(s, false); strings.Contains(e.Text(), "confine") || len(notes) != 3 {
		t.Errorf("%s %q", e.Text(), notes)
	}
	if e, notes := editOf(s, true); !strings.Contains(e.Text(), "network") || len(notes) != 2 {
		t.Errorf("%s %q", e.Text(), notes)
	}
}
