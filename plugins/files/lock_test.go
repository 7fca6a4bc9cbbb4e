package main

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/lock"
)

// TestChangesWaitForTheProject: nothing is written while somebody else has the
// project's lock, and it is written when that is done. What only looks waits for
// nobody.
func TestChangesWaitForTheProject(t *testing.T) {
	c := served(t)
	tp := newProject(t, map[string]string{"a": "old"})
	root, err := os.OpenRoot(tp.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	unlock, err := lock.Folder(context.Background(), root)
	if err != nil {
		t.Fatal(err)
	}
	for name, arguments := range map[string]object{
		"write_file":       {"path": "a", "content": "new"},
		"edit_file":        {"path": "a", "old_text": "old", "new_text": "new"},
		"create_directory": {"path": "d"},
		"delete_path":      {"path": "a"},
		"move_path":        {"source": "a", "destination": "b"},
		"copy_path":        {"source": "a", "destination": "b"},
	} {
		raw, err := json.Marshal(arguments)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		got, err := c.Invoke(ctx, sdk.Invocation{Tool: name, Arguments: raw, Project: tp.dir, CallID: name}, nowhere{t})
		cancel()
		if err == nil && got.Success {
			t.Errorf("%s did not wait: %+v", name, got)
		}
	}
	if got := call(t, c, tp.dir, "read_file", object{"path": "a"}); got.Output != "old" {
		t.Errorf("read_file: %+v", got)
	}
	if got := call(t, c, tp.dir, "list_files", object{}); !got.Success {
		t.Errorf("list_files: %q", got.Output)
	}
	unlock()
	if got := call(t, c, tp.dir, "write_file", object{"path": "a", "content": "new"}); !got.Success || tp.get("a") != "new" {
		t.Errorf("write_file: %+v", got)
	}
}
