package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/builtin"
	"github.com/bothyd/bothy/daemon/internal/project"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// withProject makes the files of the house's project entries, and gives its agent the verbs.
func (h *house) withProject(files map[string]string) *project.Tree {
	h.t.Helper()
	h.withVerbs()
	tree := project.NewTree(h.store).Under(func(string) func(string) error { return func(string) error { return nil } })
	h.config.Verbs.(*builtin.Verbs).With(tree)
	h.config.Files = tree
	for at, text := range files {
		h.file(at, text)
	}
	return tree
}

func (h *house) file(at, text string) {
	h.t.Helper()
	at = filepath.Join(h.project, at)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// TestFilesAreEntriesOfARun: the first prompt scans and leaves a list; a later one sees what changed, and writes no list.
// spec: project_manifest
func TestFilesAreEntriesOfARun(t *testing.T) {
	h := prepareHouse(t, calls(call{"get", `{"path":"src/a.go"}`}), say("one"), calls(call{"get", `{"path":"src/**","preview":true}`}), say("two"))
	h.withProject(map[string]string{"src/a.go": "package a\n", ".env": "K=1"})
	h.start()
	a := h.submit(Submission{Run: "r"})
	if l := h.await(a); l.Status != sdk.StatusOK {
		t.Fatalf("ended %d: %s", l.Status, l.Reason)
	}
	if got := h.actions(a.Run.ID)[0]; got.Body != "package a\n" {
		t.Errorf("get answered %+v", got)
	}
	list, err := h.store.Entry(context.Background(), a.Run.ID, sdk.ManifestPath)
	if err != nil || list.Body != "* src/a.go - 3 tokens\n" || list.Visibility != sdk.Visible || list.Writer != sdk.WriterSystem {
		t.Errorf("the list is %+v, %v", list, err)
	}
	h.file("src/new.go", "new")
	if l := h.await(h.submit(Submission{Run: "r"})); l.Status != sdk.StatusOK {
		t.Fatalf("ended %d: %s", l.Status, l.Reason)
	}
	if got := h.actions(a.Run.ID)[1]; got.Body != "src/a.go 200 visible 3 tokens\nsrc/new.go 200 archived 1 tokens" {
		t.Errorf("preview answered %q", got.Body)
	}
	if again, err := h.store.Entry(context.Background(), a.Run.ID, sdk.ManifestPath); err != nil || again.Version != 1 {
		t.Errorf("the list was written again: %+v, %v", again, err)
	}
	for _, s := range []Submission{{Run: "none", Options: rpc.RunOptions{NoRepo: new(true)}}, {Run: "channel", Origin: chat}} {
		a := h.submit(s)
		h.await(a)
		if _, err := h.store.Entry(context.Background(), a.Run.ID, sdk.ManifestPath); sdk.OutcomeOf(err) != sdk.NotFound {
			t.Errorf("the run %s has a list: %v", s.Run, err)
		}
	}
}

// TestCallsRefreshFiles: what a call tells that it changed is looked at again before the next turn, whatever its time.
func TestCallsRefreshFiles(t *testing.T) {
	for name, c := range map[string]struct {
		result sdk.ToolResult
		want   string
	}{
		"told":        {sdk.ToolResult{Success: true, Changes: []sdk.FileChange{{Path: "src/a.go", After: &sdk.FileState{Kind: "file"}}}}, "b"},
		"told others": {sdk.ToolResult{Success: true, Changes: []sdk.FileChange{{Path: "src/b.go", After: &sdk.FileState{Kind: "file"}}}}, "a"},
		"untold":      {sdk.ToolResult{Success: true, Untold: true}, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			h := prepareHouse(t, calls(call{"get", `{"path":"src/a.go"}`}), calls(call{"write", `{"path":"src/a.go"}`}), say("done"))
			h.withProject(map[string]string{"src/a.go": "a"})
			h.tools.on("write", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
				h.file("src/a.go", "b")
				return c.result, nil
			})
			h.start()
			a := h.submit(Submission{Run: "r", Mode: sdk.ModeFull})
			if l := h.await(a); l.Status != sdk.StatusOK {
				t.Fatalf("ended %d: %s", l.Status, l.Reason)
			}
			if e, err := h.store.Entry(context.Background(), a.Run.ID, "src/a.go"); err != nil || e.Body != c.want {
				t.Errorf("in sight is %+v, %v", e, err)
			}
		})
	}
}

// TestCallsOfClientsRefreshFiles: a file that a client wrote by a verb is there for its next.
func TestCallsOfClientsRefreshFiles(t *testing.T) {
	h := prepareHouse(t, say("done"))
	h.withFiles()
	h.withProject(nil)
	h.tools.on("write_file", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		h.file("new.txt", "new")
		return sdk.ToolResult{Success: true, Changes: []sdk.FileChange{{Path: "new.txt", After: &sdk.FileState{Kind: "file"}}}}, nil
	})
	h.start()
	a := h.submit(Submission{})
	h.await(a)
	for _, c := range []sdk.EntryCall{{Verb: sdk.VerbSet, Path: "new.txt", Body: new("new")}, {Verb: sdk.VerbGet, Path: "new.txt"}} {
		if _, err := h.engine.UseEntries(t.Context(), true, nil, a.Run, []sdk.EntryCall{c}); err != nil {
			t.Fatalf("%s: %v", c.Verb, err)
		}
	}
}

// TestScanningAProject is what clients do, and what does not fit.
// spec: project_manifest
func TestScanningAProject(t *testing.T) {
	h := prepareHouse(t)
	h.withProject(map[string]string{"a": "x", "vendor/b": "y"})
	h.start()
	p, done, err := h.engine.ScanProject(context.Background(), h.project)
	if err != nil || p.ID == 0 || done.Files != 2 || done.Changed != 2 {
		t.Errorf("%+v, %+v, %v", p, done, err)
	}
	if _, done, err = h.engine.ConstrainProject(context.Background(), h.project, "vendor", sdk.ConstraintIgnore); err != nil || done.Removed != 1 {
		t.Errorf("%+v, %v", done, err)
	}
	if _, _, err := h.engine.ConstrainProject(context.Background(), h.project, "../x", sdk.ConstraintIgnore); sdk.OutcomeOf(err) != sdk.Validation {
		t.Error(err)
	}
	if _, _, err := h.engine.ScanProject(context.Background(), "relative"); sdk.OutcomeOf(err) != sdk.Validation {
		t.Error(err)
	}
	h.engine.cfg.Files = nil
	if _, _, err := h.engine.ScanProject(context.Background(), h.project); sdk.OutcomeOf(err) != sdk.Unavailable {
		t.Error(err)
	}
}

// TestTouched says of which changes the paths are enough.
func TestTouched(t *testing.T) {
	file, folder := &sdk.FileState{Kind: "file"}, &sdk.FileState{Kind: "directory"}
	for _, c := range []struct {
		result sdk.ToolResult
		paths  string
		whole  bool
	}{
		{sdk.ToolResult{}, "", false},
		{sdk.ToolResult{Changes: []sdk.FileChange{{Path: "b", After: file}, {Path: "a", Before: file}, {Path: "b", Before: file, After: file}}}, "a b", false},
		{sdk.ToolResult{Changes: []sdk.FileChange{{Path: "b", From: "a", After: file}}}, "a b", false},
		{sdk.ToolResult{Changes: []sdk.FileChange{{Path: "b", From: "a", After: folder}}}, "a b", true},
		{sdk.ToolResult{Changes: []sdk.FileChange{{Path: "b", After: folder}}}, "b", false},
		{sdk.ToolResult{Changes: []sdk.FileChange{{Path: "x/.gitignore", After: file}}}, "x/.gitignore", true},
		{sdk.ToolResult{ChangesKept: "digest"}, "", true},
	} {
		paths, whole := touched([]*action{{result: c.result, tool: sdk.Tool{Pinned: true, ToolSpec: sdk.ToolSpec{Annotations: sdk.Annotations{ReadOnly: true}}}}})
		if strings.Join(paths, " ") != c.paths || whole != c.whole {
			t.Errorf("%+v: %v, %v", c.result, paths, whole)
		}
	}
}
