package project

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
)

type hides struct{}

func (hides) Redact(text string) string { return strings.ReplaceAll(text, "hunter2", "[gone]") }
func (h hides) RedactAround(text string, _ []int) (clean string, moved []int) {
	return h.Redact(text), nil
}
func (hides) JSON(raw json.RawMessage) json.RawMessage { return raw }

// TestSecretInAName: a file that has a secret as its name is left out, and all others are there.
func TestSecretInAName(t *testing.T) {
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "bothy.db"), store.Options{Redact: hides{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	f := grownIn(t, s, tree(t, map[string]string{"a": "a", "b/hunter2.txt": "b", "c": "c"}))
	f.scan()
	if got := strings.Join(f.paths(), " "); got != "a c" {
		t.Errorf("the entries are %s", got)
	}
}

// TestReadOnlyBelow: what removes or moves a folder is held to the files in it that a pattern keeps.
func TestReadOnlyBelow(t *testing.T) {
	f := grown(t, tree(t, map[string]string{"a/b/x.lock": "x", "a/c/x.go": "x", "d/x.go": "x", "gen/sub/y.gen.go": "y", "gen/z.go": "z", "link": "-> a"}))
	f.constrain("**/*.lock", sdk.ConstraintReadOnly)
	f.constrain("gen/**/*.gen.go", sdk.ConstraintReadOnly)
	by := f.ReadOnly(f.root)
	for at, want := range map[string]string{
		"a": "**/*.lock", "a/b": "**/*.lock", "a/b/x.lock": "**/*.lock", "a/c": "", "a/c/x.go": "", "d": "", "gone": "", "gone/x": "",
		"gen": "gen/**/*.gen.go", "gen/sub": "gen/**/*.gen.go", "gen/z.go": "", "link": "",
	} {
		if got := by(at, true); got != want {
			t.Errorf("%s: %q, want %q", at, got, want)
		}
	}
	if got := by("a", false); got != "" {
		t.Errorf("what is in a folder that stays: %q", got)
	}
}

// TestAFileComesIntoSightInAScan: what a run reads of a file that changes while the project is scanned is read again by the next.
func TestAFileComesIntoSightInAScan(t *testing.T) {
	f := grown(t, tree(t, map[string]string{"a": "old"}))
	f.scan()
	run, err := f.s.CreateRun(t.Context(), sdk.Run{Project: f.p.ID, Agent: "chat"})
	if err != nil {
		t.Fatal(err)
	}
	files, err := f.s.ProjectFiles(t.Context(), f.p.ID)
	if err != nil {
		t.Fatal(err)
	}
	u, err := f.update(t.Context(), f.p, files) // a scan begins
	if err != nil {
		t.Fatal(err)
	}
	defer u.close()
	text, facts, err := f.Text(t.Context(), run, "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.s.Commit(t.Context(), sdk.Change{Run: run.ID, Writes: []sdk.Write{{Path: "a", Writer: sdk.WriterSystem, Body: &text, Attributes: facts.Patch(), Visibility: sdk.Visible}}}); err != nil {
		t.Fatal(err)
	}
	f.write("a", "newer")
	if err := errors.Join(u.only("a", true), u.flush()); err != nil { // and ends
		t.Fatal(err)
	}
	f.scan()
	if e, err := f.s.Entry(t.Context(), run.ID, "a"); err != nil || e.Body != "newer" {
		t.Errorf("in sight is %q, %v", e.Body, err)
	}
}

func TestWithin(t *testing.T) {
	folders := map[string]bool{"a/b": true, "c.": true}
	for at, want := range map[string]bool{"a/b/x": true, "a/b/c/x": true, "a/x": false, "a/b": false, "a/bc/x": false, "x": false, "c./x": true, "c/x": false} {
		if within(at, folders) != want || !within(at, map[string]bool{"": true}) {
			t.Errorf("%s: want %v", at, want)
		}
	}
}

// TestAScanWaitsNoLongerThanItsCaller: one that another holds up, as on a disk that does not answer, leaves nothing behind.
func TestAScanWaitsNoLongerThanItsCaller(t *testing.T) {
	f := grown(t, tree(t, map[string]string{"a": "a"}))
	leave, err := f.alone(t.Context(), f.p.ID)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Scan(ctx, f.p); !errors.Is(err, context.Canceled) {
		t.Errorf("a scan: %v", err)
	}
	if err := f.Refresh(ctx, f.p, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a look: %v", err)
	}
	leave()
	if done := f.scan(); done.Files != 1 {
		t.Errorf("%+v", done)
	}
}

// TestPatternsThatBecomeAPipe: a .gitignore in whose place a pipe comes while its folder is looked at holds up no scan.
func TestPatternsThatBecomeAPipe(t *testing.T) {
	f := grown(t, tree(t, map[string]string{".gitignore": "*.log", "a": "a"}))
	root, _, err := openFiles(f.root)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	entries, _, err := readFolder(root, maxListed)
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(f.root, ignoreFile)
	if err := errors.Join(os.Remove(at), syscall.Mkfifo(at, 0o600)); err != nil {
		t.Fatal(err)
	}
	if rules := (&scan{}).rulesIn(root, "", entries, nil); len(rules) > 0 {
		t.Errorf("a pipe has %d patterns", len(rules))
	}
}

// ending is a context that ends once it was asked so often, from a moment on.
type ending struct {
	context.Context
	mu    sync.Mutex // the store asks as well
	begun bool
	left  int
}

func (e *ending) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.begun {
		if e.left--; e.left < 0 {
			return context.Canceled
		}
	}
	return nil
}

// walked has a context begin to end when the constraints are known, which is when a scan begins to walk.
type walked struct {
	*forest
	ctx *ending
}

func (w walked) Constraints(ctx context.Context, id int64) ([]sdk.FileConstraint, error) {
	defer func() {
		w.ctx.mu.Lock()
		defer w.ctx.mu.Unlock()
		w.ctx.begun = true
	}()
	return w.forest.Constraints(ctx, id)
}

// TestAScanThatEndsKeepsWhatItFound: one that never has the time for all comes to the end by the next ones.
func TestAScanThatEndsKeepsWhatItFound(t *testing.T) {
	const files = 40
	texts := map[string]string{}
	for i := range files {
		texts[fmt.Sprint(i)] = "x"
	}
	f := grown(t, tree(t, texts))
	ctx := &ending{Context: t.Context(), left: files / 2}
	if _, err := NewTree(walked{f, ctx}).Scan(ctx, f.p); !errors.Is(err, context.Canceled) {
		t.Fatalf("a scan that was ended: %v", err)
	}
	left := f.paths()
	if len(left) == 0 || len(left) == files {
		t.Errorf("it left %q", left)
	}
	if done := f.scan(); done != (sdk.Scanned{Files: files, Changed: files - len(left)}) {
		t.Errorf("the next one: %+v", done)
	}
}

// TestAConstraintGoesAsItCame: what sets one takes it away again.
func TestAConstraintGoesAsItCame(t *testing.T) {
	f := grown(t, tree(t, map[string]string{"a/b": "b"}))
	for _, pattern := range []string{"a/", "./a", "a"} {
		f.constrain(pattern, sdk.ConstraintIgnore)
		f.constrain(pattern, "")
	}
	if got := strings.Join(f.paths(), " "); got != "a/b" {
		t.Errorf("the entries are %q", got)
	}
}
