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

// TestUnsaved: what a person's editor has otherwise than the disk is what is read, and nothing changes it,
// neither when a person is asked nor when it is done.
func TestUnsaved(t *testing.T) {
	c := served(t)
	tp := newProject(t, map[string]string{"a.txt": "saved\n", "b.txt": "b\n"})
	unsaved, unsure := map[string]string{"a.txt": "one\nin the editor\n"}, []string(nil)
	request := func(name string, arguments object) sdk.Invocation {
		t.Helper()
		raw, err := json.Marshal(arguments)
		if err != nil {
			t.Fatal(err)
		}
		return sdk.Invocation{Tool: name, Arguments: raw, Project: tp.dir, RunDir: t.TempDir(), CallID: name, Unsaved: unsaved, Unsure: unsure}
	}
	invoke := func(name string, arguments object) sdk.ToolResult {
		t.Helper()
		got, err := c.Invoke(context.Background(), request(name, arguments), nowhere{t})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, path := range []string{"a.txt", "./a.txt"} {
		if got := invoke("read_file", object{"path": path}); !strings.HasPrefix(got.Output, unsaved["a.txt"]+"[this is the text in the person's editor") || !strings.Contains(string(got.Structured), `"unsaved":true`) {
			t.Errorf("%s is %q %s", path, got.Output, got.Structured)
		}
	}
	if got := invoke("read_file", object{"path": "a.txt", "start_line": 2}); !strings.HasPrefix(got.Output, "in the editor\n") {
		t.Errorf("the second line is %q", got.Output)
	}
	if got := invoke("diff_files", object{"path": "a.txt", "other": "b.txt"}); !strings.Contains(got.Output, "-saved") || !strings.Contains(got.Output, "has unsaved changes of a.txt; this is what the disk has") {
		t.Errorf("compared: %q", got.Output)
	}
	refused := func(says string) {
		t.Helper()
		for name, arguments := range map[string]object{
			"write_file":  {"path": "a.txt", "content": "y"},
			"edit_file":   {"path": "a.txt", "old_text": "saved", "new_text": "y"},
			"delete_path": {"path": "a.txt"},
			"move_path":   {"source": "b.txt", "destination": "a.txt", "overwrite": true},
		} {
			if got := invoke(name, arguments); got.Success || got.Outcome != sdk.Conflict || !strings.Contains(got.Error, says) {
				t.Errorf("%s: %+v", name, got)
			}
			if _, err := c.Stage(context.Background(), request(name, arguments)); sdk.OutcomeOf(err) != sdk.Conflict {
				t.Errorf("%s is staged: %v", name, err)
			}
		}
	}
	refused("ask the person to save them")
	unsaved, unsure = nil, []string{"a.txt"} // the editor does not say
	refused("did not say within a second whether it has unsaved changes of a.txt")
	if got := invoke("read_file", object{"path": "a.txt"}); !strings.HasPrefix(got.Output, "saved\n[the person's editor did not say whether it has unsaved changes of a.txt; this is what the disk has]") {
		t.Errorf("what the disk has: %q", got.Output)
	}
	if text, err := os.ReadFile(filepath.Join(tp.dir, "a.txt")); err != nil || string(text) != "saved\n" {
		t.Errorf("a.txt is %q, %v", text, err)
	}
	unsaved, unsure = nil, nil
	if got := invoke("edit_file", object{"path": "a.txt", "old_text": "saved", "new_text": "y"}); !got.Success {
		t.Errorf("when it is saved: %+v", got)
	}
}
