package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestHeldPaths: what a command changed and nobody has agreed to is changed by no
// tool, under no name, and read with a note.
func TestHeldPaths(t *testing.T) {
	c := served(t)
	tp := newProject(t, map[string]string{"d/held": "project\n", "d/free": "x\n", "way": "-> d", "other": "x\n"})
	runDir := t.TempDir()
	if err := os.WriteFile(filepath.Join(runDir, "held.json"), []byte(`["d/held","new"]`), 0o600); err != nil {
		t.Fatal(err)
	}
	invoke := func(name string, arguments object) sdk.ToolResult {
		t.Helper()
		raw, err := json.Marshal(arguments)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Invoke(context.Background(), sdk.Invocation{Tool: name, Arguments: raw, Project: tp.dir, RunDir: runDir, CallID: name}, nowhere{t})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	stage := func(name string, arguments object) error {
		raw, err := json.Marshal(arguments)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Stage(context.Background(), sdk.Invocation{Tool: name, Arguments: raw, Project: tp.dir, RunDir: runDir, CallID: name})
		return err
	}
	for _, x := range []struct {
		tool      string
		arguments object
	}{
		{"write_file", object{"path": "d/held", "content": "y"}},
		{"write_file", object{"path": "way/held", "content": "y"}},
		{"write_file", object{"path": "new", "content": "y"}},
		{"write_file", object{"path": "new/below", "content": "y"}},
		{"edit_file", object{"path": "d/held", "old_text": "project", "new_text": "y"}},
		{"create_directory", object{"path": "new"}},
		{"create_directory", object{"path": "new/below"}},
		{"delete_path", object{"path": "d/held"}},
		{"delete_path", object{"path": "d", "recursive": true}},
		{"move_path", object{"source": "d", "destination": "e"}},
		{"move_path", object{"source": "d/held", "destination": "e"}},
		{"move_path", object{"source": "other", "destination": "d/held", "overwrite": true}},
		{"copy_path", object{"source": "other", "destination": "new"}},
	} {
		tp.unchangedBy(func() {
			got := invoke(x.tool, x.arguments)
			if got.Success || got.Outcome != sdk.Conflict || !strings.Contains(got.Error, "a person has not agreed") {
				t.Errorf("%s %v: %+v", x.tool, x.arguments, got)
			}
			if err := stage(x.tool, x.arguments); sdk.OutcomeOf(err) != sdk.Conflict {
				t.Errorf("showing %s %v: %v", x.tool, x.arguments, err)
			}
		})
	}
	for _, x := range []struct {
		tool      string
		arguments object
		noted     bool
	}{
		{"read_file", object{"path": "d/held"}, true},
		{"read_file", object{"path": "way/held"}, true},
		{"read_file", object{"path": "d/free"}, false},
		{"list_files", object{"path": "d"}, true},
		{"list_files", object{}, true},
		{"write_file", object{"path": "d/free", "content": "y"}, false},
		{"create_directory", object{"path": "d"}, false},
		{"copy_path", object{"source": "d", "destination": "copy"}, true},
	} {
		got := invoke(x.tool, x.arguments)
		if !got.Success || strings.Contains(got.Output, "has not agreed") != x.noted {
			t.Errorf("%s %v: %+v", x.tool, x.arguments, got)
		}
	}
	if got := invoke("read_file", object{"path": "d/held"}); got.Output != "project\n[a command of this run changed d/held, and a person has not agreed to that yet; this is what the project has]\n" {
		t.Errorf("%q", got.Output)
	}
}

// TestNoteNamesAFew: the note about many held paths is short.
func TestNoteNamesAFew(t *testing.T) {
	p := &project{held: []string{"a", "b", "c", "d", "e", "f", "g"}}
	p.look(&place{path: "."})
	if got := p.note(); !strings.Contains(got, "a, b, c, d, e and 2 more paths,") {
		t.Errorf("%q", got)
	}
}
