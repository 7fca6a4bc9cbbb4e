package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/kept"
)

// replacing is a project, and a view's folder with what a command took out of it.
type replacing struct {
	t             *testing.T
	project, view string
	store         kept.Store
}

func newReplacing(t *testing.T) *replacing {
	return &replacing{t: t, project: t.TempDir(), view: t.TempDir(), store: kept.In(t.TempDir())}
}

func (r *replacing) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// put writes a file with a mode, in folders that are made.
func (r *replacing) put(at, text string, mode os.FileMode) string {
	r.t.Helper()
	r.must(os.MkdirAll(filepath.Dir(at), 0o755))
	r.must(os.WriteFile(at, []byte(text), 0o600))
	r.must(os.Chmod(at, mode))
	return at
}

// shut takes all bits of a folder's mode until the test has ended.
func (r *replacing) shut(at string) {
	r.t.Helper()
	r.must(os.Chmod(at, 0))
	r.t.Cleanup(func() { _ = os.Chmod(at, 0o700) })
}

// tell answers the changes by their paths.
func (r *replacing) tell(changed ...sandbox.Change) (map[string]sdk.FileChange, []string) {
	r.t.Helper()
	var result sdk.ToolResult
	unkept, err := tell(&result, changed, r.project, r.store)
	r.must(err)
	found := map[string]sdk.FileChange{}
	for _, c := range result.Changes {
		if err := c.Check(); err != nil {
			r.t.Errorf("%s: %v", c.Path, err)
		}
		found[c.Path] = c
	}
	return found, unkept
}

// held is what a change gives back; empty where it gives nothing back.
func (r *replacing) held(c sdk.FileChange) string {
	r.t.Helper()
	if c.Undo != nil {
		return string(c.Undo.Removed)
	}
	if c.Kept == "" {
		return ""
	}
	at, err := r.store.Open(c.Kept)
	r.must(err)
	defer at.Close()
	text := make([]byte, 64)
	n, _ := at.Read(text)
	return string(text[:n])
}

func (r *replacing) mode(at string, want os.FileMode) {
	r.t.Helper()
	info, err := os.Lstat(at)
	r.must(err)
	if info.Mode().Perm() != want {
		r.t.Errorf("%s has mode %o, want %o", at, info.Mode().Perm(), want)
	}
}

var (
	someFile   = sandbox.Node{Kind: sandbox.NodeFile, Mode: 0o644}
	someFolder = sandbox.Node{Kind: sandbox.NodeDirectory, Mode: 0o755}
)

func ordinary(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("a mode closes nothing to root")
	}
}

// TestContentsBehindAModeAreKept: what a command replaced is kept, whatever mode it gave to
// what was there or to what is there now, and no mode stays another one.
func TestContentsBehindAModeAreKept(t *testing.T) {
	ordinary(t)
	r := newReplacing(t)
	r.put(filepath.Join(r.project, "now"), "bad", 0)
	now := r.put(filepath.Join(r.view, "o", "1"), "work 1", 0o640)
	r.put(filepath.Join(r.project, "then"), "bad", 0o644)
	then := r.put(filepath.Join(r.view, "o", "2"), "work 2", 0)
	below := filepath.Join(r.view, "o", "3")
	inner := r.put(filepath.Join(below, "in", "work"), "work 3", 0)
	r.shut(filepath.Join(below, "in"))
	r.shut(below)
	r.put(filepath.Join(r.project, "way", "f"), "bad", 0o644)
	way := r.put(filepath.Join(r.view, "u", "a", "way", "f"), "work 4", 0o644)
	r.shut(filepath.Dir(way))
	r.shut(filepath.Dir(filepath.Dir(way)))
	got, unkept := r.tell(
		sandbox.Change{Path: "now", Was: someFile, Is: someFile, Old: now},
		sandbox.Change{Path: "then", Was: someFile, Is: someFile, Old: then},
		sandbox.Change{Path: "closed", Was: someFolder, Old: below},
		sandbox.Change{Path: "way/f", Was: someFile, Is: someFile, Old: way},
	)
	if len(unkept) > 0 {
		t.Errorf("not kept: %q", unkept)
	}
	for at, want := range map[string]string{"now": "work 1", "then": "work 2", "closed/in/work": "work 3", "way/f": "work 4"} {
		if text := r.held(got[at]); text != want || got[at].Lost != "" {
			t.Errorf("of %s %q is kept, want %q, lost %q", at, text, want, got[at].Lost)
		}
	}
	if c := got["now"]; c.Before == nil || c.Before.Mode != 0o640 || c.After.Hash != "" {
		t.Errorf("now is told as %+v, before %+v", c, c.Before)
	}
	for _, at := range []string{"then", "closed", "closed/in", "closed/in/work"} {
		if b := got[at].Before; b == nil || b.Mode != 0 {
			t.Errorf("%s was %+v, want no bits", at, b)
		}
	}
	r.mode(then, 0)
	r.mode(below, 0)
	r.mode(filepath.Dir(filepath.Dir(way)), 0)
	r.must(os.Chmod(below, 0o700))
	r.mode(filepath.Join(below, "in"), 0)
	r.must(os.Chmod(filepath.Join(below, "in"), 0o700))
	r.mode(inner, 0)
}

// TestAModeOfTheProjectIsNotTouched: a closed file that may have another name in the project
// keeps its mode, and is said to be kept nowhere else.
func TestAModeOfTheProjectIsNotTouched(t *testing.T) {
	ordinary(t)
	r := newReplacing(t)
	old := r.put(filepath.Join(r.view, "o", "1"), "work", 0o600)
	r.must(os.Link(old, filepath.Join(r.project, "other")))
	r.must(os.Chmod(old, 0))
	got, unkept := r.tell(sandbox.Change{Path: "f", Was: someFile, Old: old})
	if len(unkept) != 1 || !strings.Contains(got["f"].Lost, old) {
		t.Errorf("not kept %q, lost %q", unkept, got["f"].Lost)
	}
	r.mode(old, 0)
}

// TestWhatIsNewAndClosed: a new folder that cannot be listed is not told as if it were empty.
func TestWhatIsNewAndClosed(t *testing.T) {
	ordinary(t)
	r := newReplacing(t)
	r.put(filepath.Join(r.project, "new", "f"), "x", 0o644)
	r.shut(filepath.Join(r.project, "new"))
	got, unkept := r.tell(sandbox.Change{Path: "new", Is: someFolder, Whole: true})
	if c := got["new"]; c.Lost == "" || len(unkept) > 0 {
		t.Errorf("told as %+v, not kept %q", c, unkept)
	}
}

// TestWhatCannotBeKeptStays: where the store takes nothing, the result says where the only
// copy lies, and the whole of the changes is told of all the same.
func TestWhatCannotBeKeptStays(t *testing.T) {
	r := newReplacing(t)
	data := r.put(filepath.Join(t.TempDir(), "data"), "", 0o600) // no folder can be made in it
	old := r.put(filepath.Join(r.view, "o", "1"), strings.Repeat("work", spliced), 0o644)
	r.put(filepath.Join(r.project, "f"), "bad", 0o644)
	b := newBash(hclog.NewNullLogger())
	b.settings = &sdk.Settings{DataDir: data}
	changed := sandbox.Result{Viewed: true, Changes: []sandbox.Change{{Path: "f", Was: someFile, Is: someFile, Old: old}}}
	got := b.changes(sdk.ToolResult{Output: "out"}, changed, r.project)
	if !strings.Contains(got.Output, filepath.Dir(old)) {
		t.Errorf("the output is %q", got.Output)
	}
	if len(got.Changes) != 1 || !strings.Contains(got.Changes[0].Lost, old) {
		t.Errorf("told of %+v", got.Changes)
	}
}
