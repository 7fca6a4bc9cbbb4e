package inspect

import (
	"path/filepath"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestNeededPaths: a path that a plugin declares is asked for unless it is open, whoever
// wrote out the home.
func TestNeededPaths(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for name, c := range map[string]struct {
		needed, open string
		asked        bool
	}{
		"as it is declared":    {"~/notes", "~/notes", false},
		"made by a shell":      {"~/notes", filepath.Join(home, "notes"), false},
		"declared in full":     {filepath.Join(home, "notes"), "~/notes", false},
		"with a slash":         {"~/notes/", filepath.Join(home, "notes"), false},
		"below":                {"~/notes/old", "~/notes", false},
		"the whole home":       {"~/notes", home, false},
		"above":                {"~/notes", "~/notes/old", true},
		"another":              {"~/notes", "~/note", true},
		"one that begins so":   {"~/notes", "~/notes-old", true},
		"dots in a name":       {"~/..notes", "~/", false},
		"of the root":          {"~/notes", "/notes", true},
		"another's home":       {"~/notes", "/home/else/notes", true},
		"a name with a tilde":  {"/x/~/notes", "~/notes", true},
		"nothing that is open": {"~/notes", "", true},
	} {
		var open []string
		if c.open != "" {
			open = []string{c.open}
		}
		for _, in := range []Installation{
			{Stored: Stored{Manifest: sdk.Manifest{Needs: sdk.Needs{Paths: []string{c.needed}}}}, Opening: Opening{Paths: open}},
			{Stored: Stored{Manifest: sdk.Manifest{Needs: sdk.Needs{ReadPaths: []string{c.needed}}}}, Opening: Opening{ReadPaths: open}},
		} {
			if wanted := in.Wanted(); (len(wanted) > 0) != c.asked {
				t.Errorf("%s: wanted %v", name, wanted)
			}
		}
	}
}
