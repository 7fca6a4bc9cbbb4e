package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// megabytes is the limit on a file in tests, small enough to be passed quickly.
const megabytes = 2_000_000

// testProject is a project directory, with a folder beside it that nothing may
// touch.
type testProject struct {
	*project
	t       *testing.T
	outside string
}

// newProject makes a project of the files given: a name ending in a slash is a
// folder, a content beginning with "-> " a link.
func newProject(t *testing.T, files map[string]string) *testProject {
	t.Helper()
	base := t.TempDir()
	dir, outside := filepath.Join(base, "project"), filepath.Join(base, "outside")
	for _, d := range []string{dir, outside} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tp := &testProject{t: t, outside: outside}
	var err error
	if tp.project, err = openProject(dir); err != nil {
		t.Fatal(err)
	}
	tp.most = megabytes
	t.Cleanup(tp.close)
	for name, content := range files {
		tp.put(name, content)
	}
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	return tp
}

func (tp *testProject) put(name, content string) {
	tp.t.Helper()
	full := filepath.Join(tp.dir, name)
	if strings.HasSuffix(name, "/") {
		if err := os.MkdirAll(full, 0o755); err != nil {
			tp.t.Fatal(err)
		}
		return
	}
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		tp.t.Fatal(err)
	}
	var err error
	if target, ok := strings.CutPrefix(content, "-> "); ok {
		err = os.Symlink(target, full)
	} else {
		err = os.WriteFile(full, []byte(content), 0o644)
	}
	if err != nil {
		tp.t.Fatal(err)
	}
}

// get returns what is in a file, or "<none>".
func (tp *testProject) get(name string) string {
	tp.t.Helper()
	b, err := os.ReadFile(filepath.Join(tp.dir, name))
	if os.IsNotExist(err) {
		return "<none>"
	}
	if err != nil {
		tp.t.Fatal(err)
	}
	return string(b)
}

// snapshot is every file of the project and of the folder beside it: kind, mode
// and content.
func (tp *testProject) snapshot() map[string]string {
	tp.t.Helper()
	seen := map[string]string{}
	err := filepath.Walk(filepath.Dir(tp.dir), func(name string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		what := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			what += " " + string(b)
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(name)
			if err != nil {
				return err
			}
			what += " " + target
		}
		seen[strings.TrimPrefix(name, filepath.Dir(tp.dir)+"/")] = what
		return nil
	})
	if err != nil {
		tp.t.Fatal(err)
	}
	return seen
}

// unchangedBy runs do and checks that no file anywhere changed.
func (tp *testProject) unchangedBy(do func()) {
	tp.t.Helper()
	before := tp.snapshot()
	do()
	after := tp.snapshot()
	for name, what := range before {
		if after[name] != what {
			tp.t.Errorf("%s was %.80q and is %.80q", name, what, after[name])
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			tp.t.Errorf("%s appeared", name)
		}
	}
}

// wantOutcome checks an error's outcome and that its text holds the words.
func wantOutcome(t *testing.T, err error, outcome sdk.Outcome, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want outcome %s", outcome)
		return
	}
	if got := sdk.OutcomeOf(err); got != outcome {
		t.Errorf("outcome %s, want %s: %v", got, outcome, err)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
}

func TestCleanPaths(t *testing.T) {
	tp := newProject(t, nil)
	good := map[string]string{
		"a": "a", "./a": "a", "a/../b": "b", "a/./b/": "a/b", ".": ".", "a/..": ".",
		"..a": "..a", "a..b/c": "a..b/c", "a~": "a~", "./~x": "~x", "a b": "a b", `a\b`: `a\b`,
	}
	for name, want := range good {
		if got, err := tp.clean(name); err != nil || got != want {
			t.Errorf("%q became %q, %v", name, got, err)
		}
	}
	bad := []struct {
		name    string
		outcome sdk.Outcome
		words   string
	}{
		{"", sdk.Validation, "empty"},
		{"/abs", sdk.Permission, "absolute"},
		{"/", sdk.Permission, "absolute"},
		{tp.dir + "/src/a.go", sdk.Permission, "write src/a.go"},
		{"~/x", sdk.Permission, "~"},
		{"~", sdk.Permission, "~"},
		{"~root/x", sdk.Permission, "~"},
		{"..", sdk.Permission, "outside"},
		{"../x", sdk.Permission, "outside"},
		{"a/../../b", sdk.Permission, "outside"},
		{"a\x00b", sdk.Validation, "NUL"},
		{strings.Repeat("a/", 3000), sdk.Validation, "long"},
		{strings.Repeat("a/", 200), sdk.Validation, "deep"},
	}
	for _, tt := range bad {
		_, err := tp.clean(tt.name)
		wantOutcome(t, err, tt.outcome, tt.words)
	}
}

func TestOpenProject(t *testing.T) {
	_, err := openProject("relative")
	wantOutcome(t, err, sdk.Validation, "project")
	_, err = openProject("")
	wantOutcome(t, err, sdk.Validation, "project")
	_, err = openProject(filepath.Join(t.TempDir(), "gone"))
	wantOutcome(t, err, sdk.NotFound)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err = openProject(file); err == nil {
		t.Error("a file was opened as a project")
	}
}

// every runs each operation on a path, reading or changing it.
func (tp *testProject) every(name string) map[string]error {
	ctx := context.Background()
	errs := map[string]error{}
	_, errs["read"] = tp.read(ctx, readArgs{Path: name})
	_, errs["list"] = tp.list(ctx, listArgs{Path: name})
	_, errs["find"] = tp.find(ctx, findArgs{Pattern: "**", Path: name})
	_, errs["grep"] = tp.grep(ctx, grepArgs{Pattern: "secret", Path: name})
	_, errs["copy from"] = tp.copy(ctx, moveArgs{Source: name, Destination: "copied"})
	for op, err := range tp.everyChange(name) {
		errs[op] = err
	}
	return errs
}

// everyChange runs each operation that would change a path.
func (tp *testProject) everyChange(name string) map[string]error {
	ctx := context.Background()
	errs := map[string]error{}
	_, errs["write"] = tp.write(ctx, writeArgs{Path: name, Content: "evil"})
	_, errs["edit"] = tp.edit(ctx, editArgs{Path: name, OldText: "e", NewText: "evil"})
	_, errs["create"] = tp.create(ctx, createArgs{Path: name})
	_, errs["delete"] = tp.delete(ctx, deleteArgs{Path: name, Recursive: true})
	_, errs["move from"] = tp.move(ctx, moveArgs{Source: name, Destination: "moved", Overwrite: true})
	_, errs["move onto"] = tp.move(ctx, moveArgs{Source: "spare", Destination: name, Overwrite: true})
	_, errs["copy onto"] = tp.copy(ctx, moveArgs{Source: "spare", Destination: name, Overwrite: true})
	_, errs["move folder onto"] = tp.move(ctx, moveArgs{Source: "sparefolder", Destination: name, Overwrite: true})
	_, errs["copy folder onto"] = tp.copy(ctx, moveArgs{Source: "sparefolder", Destination: name, Overwrite: true})
	return errs
}

// spec: wrong_accept_outside
func TestNothingLeavesTheProject(t *testing.T) {
	tp := newProject(t, map[string]string{
		"spare": "s", "sparefolder/x": "x", "dir/x": "x",
		"up": "-> ..", "out": "-> ../outside", "secret": "-> ../outside/secret",
		"dangling": "-> ../outside/new", "dir/far": "-> ../../outside", "loop": "-> loop2", "loop2": "-> loop",
		"twice": "-> dir/far", "inner": "-> dir/../../outside",
	})
	tp.put("abs", "-> "+tp.outside)
	tp.put("absin", "-> "+tp.dir+"/dir")
	for _, name := range []string{
		"/etc/passwd", "~/x", "../outside/secret", "dir/../../outside/secret",
		"up/outside/secret", "out/secret", "out/newdir/f", "dir/far/secret", "abs/secret", "absin/x",
		"twice/secret", "inner/secret", "out/../dir/../up/x",
	} {
		t.Run(name, func(t *testing.T) {
			tp.unchangedBy(func() {
				for op, err := range tp.every(name) {
					if err == nil || sdk.OutcomeOf(err) != sdk.Permission {
						t.Errorf("%s gave %v", op, err)
					}
				}
			})
		})
	}
	// What is a link itself may be moved or deleted, but never gone through.
	for _, name := range []string{"secret", "dangling", "abs", "out"} {
		tp.unchangedBy(func() {
			ctx := context.Background()
			_, err := tp.write(ctx, writeArgs{Path: name, Content: "evil"})
			wantOutcome(t, err, sdk.Permission, name)
			_, err = tp.read(ctx, readArgs{Path: name})
			wantOutcome(t, err, sdk.Permission, name)
		})
	}
	_, err := tp.read(context.Background(), readArgs{Path: "loop"})
	wantOutcome(t, err, sdk.Validation)
}

func TestLinksInsideTheProjectAreFollowed(t *testing.T) {
	ctx := context.Background()
	tp := newProject(t, map[string]string{
		"a/b/c.txt": "one", "link": "-> a/b", "deep/link": "-> ../a/./b/", "chain": "-> deep/link/c.txt",
		"new": "-> a/made.txt", "self": "-> .", "back": "-> a/b/..",
	})
	for _, name := range []string{"link/c.txt", "deep/link/c.txt", "chain", "self/self/a/b/c.txt", "back/b/c.txt"} {
		got, err := tp.read(ctx, readArgs{Path: name})
		if err != nil || got.text != "one" {
			t.Errorf("%s: %q, %v", name, got.text, err)
			continue
		}
		if data := got.data.(readData); data.Path != "a/b/c.txt" {
			t.Errorf("%s was said to be %s", name, data.Path)
		}
	}
	if _, err := tp.write(ctx, writeArgs{Path: "new", Content: "x"}); err != nil {
		t.Fatal(err)
	}
	if tp.get("a/made.txt") != "x" {
		t.Error("a link to nothing inside the project was not followed")
	}
	if got, err := tp.list(ctx, listArgs{Path: "back"}); err != nil || got.data.(listData).Path != "a" {
		t.Errorf("%+v, %v", got.data, err)
	}
}

func TestFault(t *testing.T) {
	tp := newProject(t, nil)
	_, err := tp.root.Open("../outside")
	wantOutcome(t, fault("read", "x", err), sdk.Permission, "outside the project")
	for cause, outcome := range map[error]sdk.Outcome{
		syscall.ENOENT: sdk.NotFound, syscall.EACCES: sdk.Permission, syscall.EPERM: sdk.Permission, syscall.EROFS: sdk.Permission,
		syscall.EEXIST: sdk.Conflict, syscall.ENOTEMPTY: sdk.Conflict, syscall.ENOTDIR: sdk.Validation, syscall.EISDIR: sdk.Validation,
		syscall.ELOOP: sdk.Validation, syscall.ENAMETOOLONG: sdk.Validation, syscall.EIO: sdk.Internal, syscall.ENOSPC: sdk.Internal,
		context.Canceled: sdk.Aborted, context.DeadlineExceeded: sdk.Timeout,
	} {
		err := fault("read", "x\ny", &os.PathError{Op: "openat", Path: "/hidden", Err: cause})
		wantOutcome(t, err, outcome, `"x\ny"`)
		if !errors.Is(err, cause) || cause != context.Canceled && cause != context.DeadlineExceeded && strings.Contains(err.Error(), "/hidden") || strings.Contains(err.Error(), "context") {
			t.Errorf("%v", err)
		}
		if again := fault("write", "z", err); again != err {
			t.Errorf("an outcome was changed: %v", again)
		}
	}
	wantOutcome(t, moveArgs{Source: "a", Destination: "b"}.fault("move", syscall.EXDEV), sdk.Validation, "copy_path", "a and b")
	wantOutcome(t, moveArgs{Source: "a", Destination: "b"}.fault("move", syscall.EEXIST), sdk.Conflict, "b exists")
	wantOutcome(t, moveArgs{Source: "a", Destination: "b"}.fault("move", syscall.ENOENT), sdk.NotFound, "a does not exist")
}
