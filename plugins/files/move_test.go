package main

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func TestCreate(t *testing.T) {
	ctx := context.Background()
	tp := newProject(t, map[string]string{"file": "x", "link": "-> a"})
	got, err := tp.create(ctx, createArgs{Path: "a/b/c"})
	if err != nil || !got.data.(createData).Created {
		t.Errorf("%+v, %v", got, err)
	}
	for _, name := range []string{"a/b/c", "a/b", "link/b"} {
		if got, err := tp.create(ctx, createArgs{Path: name}); err != nil || got.data.(createData).Created {
			t.Errorf("%s again: %+v, %v", name, got, err)
		}
	}
	if got, err := tp.create(ctx, createArgs{Path: "link/d"}); err != nil || got.data.(createData).Path != "a/d" {
		t.Errorf("%+v, %v", got, err)
	}
	tp.unchangedBy(func() {
		_, err := tp.create(ctx, createArgs{Path: "file"})
		wantOutcome(t, err, sdk.Conflict, "file")
		_, err = tp.create(ctx, createArgs{Path: "file/x"})
		wantOutcome(t, err, sdk.Validation)
		_, err = tp.create(ctx, createArgs{Path: "."})
		wantOutcome(t, err, sdk.Validation)
	})
}

func TestDelete(t *testing.T) {
	ctx := context.Background()
	tp := newProject(t, map[string]string{
		"file": "x", "empty/": "", "full/a/b": "x", "full/out": "-> ../../outside", "full/in": "-> ../keep", "keep/x": "x",
		"link": "-> keep", "dangling": "-> nowhere", "out": "-> ../outside",
	})
	tp.unchangedBy(func() {
		for _, name := range []string{"", ".", "./", "keep/..", "keep/../."} {
			_, err := tp.delete(ctx, deleteArgs{Path: name, Recursive: true})
			wantOutcome(t, err, sdk.Validation)
		}
		_, err := tp.delete(ctx, deleteArgs{Path: "full"})
		wantOutcome(t, err, sdk.Conflict, "recursive")
		_, err = tp.delete(ctx, deleteArgs{Path: "gone"})
		wantOutcome(t, err, sdk.NotFound, "gone")
		_, err = tp.delete(ctx, deleteArgs{Path: "..", Recursive: true})
		wantOutcome(t, err, sdk.Permission)
	})
	for name, kind := range map[string]string{"file": "file", "empty": "directory", "link": "link", "dangling": "link", "out": "link"} {
		got, err := tp.delete(ctx, deleteArgs{Path: name})
		if err != nil || got.data.(deleteData).Kind != kind {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := tp.delete(ctx, deleteArgs{Path: "full", Recursive: true}); err != nil {
		t.Error(err)
	}
	left := tp.snapshot()
	for name := range left {
		if strings.HasPrefix(name, "project/") && !strings.HasPrefix(name, "project/keep") {
			t.Errorf("%s is left", name)
		}
	}
	if tp.get("keep/x") != "x" || tp.get("../outside/secret") != "secret" {
		t.Error("a link was followed")
	}
}

// spec: wrong_moved_file
func TestMove(t *testing.T) {
	ctx := context.Background()
	files := map[string]string{"a": "a", "b": "b", "d/x": "x", "d/y/z": "z", "e/": "", "link": "-> a", "ro": "r"}
	for _, tt := range []struct {
		args moveArgs
		gone string
		want map[string]string
	}{
		{moveArgs{"a", "new/dir/a", false}, "a", map[string]string{"new/dir/a": "a"}},
		{moveArgs{"a", "b", true}, "a", map[string]string{"b": "a"}},
		{moveArgs{"d", "e/d", false}, "d", map[string]string{"e/d/x": "x", "e/d/y/z": "z"}},
		{moveArgs{"link", "d/link", false}, "link", map[string]string{"a": "a"}},
		{moveArgs{"b", "link", true}, "b", map[string]string{"link": "b", "a": "a"}},
		{moveArgs{"d/../a", "./q", true}, "a", map[string]string{"q": "a"}},
	} {
		tp := newProject(t, files)
		got, err := tp.move(ctx, tt.args)
		if err != nil {
			t.Errorf("%+v: %v", tt.args, err)
			continue
		}
		if _, err := os.Lstat(filepath.Join(tp.dir, tt.gone)); err == nil {
			t.Errorf("%+v left its source", tt.args)
		}
		for name, content := range tt.want {
			if tp.get(name) != content {
				t.Errorf("%+v: %s is %q", tt.args, name, tp.get(name))
			}
		}
		if data := got.data.(moveData); data.Overwritten != (tt.args.Destination == "b" || tt.args.Destination == "link") {
			t.Errorf("%+v: %+v", tt.args, data)
		}
	}
	tp := newProject(t, files)
	if err := os.Chmod(filepath.Join(tp.dir, "ro"), 0o400); err != nil {
		t.Fatal(err)
	}
	refusedMoves := []struct {
		args    moveArgs
		outcome sdk.Outcome
		words   string
	}{
		{moveArgs{"gone", "x", false}, sdk.NotFound, "gone"},
		{moveArgs{"a", "b", false}, sdk.Conflict, "overwrite"},
		{moveArgs{"a", "link", false}, sdk.Conflict, "overwrite"},
		{moveArgs{"a", "d", true}, sdk.Conflict, "d/a"},
		{moveArgs{"d", "b", true}, sdk.Conflict, "directory"},
		{moveArgs{"d", "e", true}, sdk.Conflict, "directory"},
		{moveArgs{"a", "a", true}, sdk.Validation, "nothing to do"},
		{moveArgs{"d", "d/y/d", false}, sdk.Validation, "inside"},
		{moveArgs{"d", "d/new/d", false}, sdk.Validation, "inside"},
		{moveArgs{".", "x", false}, sdk.Validation, "project"},
		{moveArgs{"a", ".", true}, sdk.Validation, "project"},
		{moveArgs{"a", "b/c", false}, sdk.Validation, "not a directory"},
		{moveArgs{"a", "", false}, sdk.Validation, "empty"},
		{moveArgs{"a", "../x", false}, sdk.Permission, "outside"},
		{moveArgs{"a", "ro", true}, sdk.Permission, "read-only"},
	}
	tp.unchangedBy(func() {
		for _, tt := range refusedMoves {
			_, err := tp.move(ctx, tt.args)
			wantOutcome(t, err, tt.outcome, tt.words)
			_, err = tp.copy(ctx, tt.args)
			if tt.args.Source == "." {
				continue
			}
			wantOutcome(t, err, tt.outcome, tt.words)
		}
	})
}

// spec: wrong_moved_file
func TestCopy(t *testing.T) {
	ctx := context.Background()
	tp := newProject(t, map[string]string{
		"a.sh": "a", "b": "b", "d/x": "x", "d/y/z": "z", "d/in": "-> x", "d/out": "-> ../../outside", "d/.git/config": "c", "link": "-> a.sh", "dlink": "-> d",
	})
	if err := os.Chmod(filepath.Join(tp.dir, "a.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(tp.dir, "d/y"), 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // so that the folder can be removed
		for _, name := range []string{"d/y", "e/d/y", "f/y"} {
			if err := os.Chmod(filepath.Join(tp.dir, name), 0o755); err != nil {
				t.Error(err)
			}
		}
	})
	for _, args := range []moveArgs{
		{"a.sh", "new/a.sh", false}, {"a.sh", "b", true}, {"link", "fromlink", false}, {"d", "e/d", false}, {"dlink", "f", false},
	} {
		if _, err := tp.copy(ctx, args); err != nil {
			t.Errorf("%+v: %v", args, err)
		}
	}
	all := tp.snapshot()
	for name, like := range map[string]string{"new/a.sh": "a.sh", "b": "a.sh", "fromlink": "a.sh"} {
		if all["project/"+name] != all["project/"+like] || all["project/"+name] == "" {
			t.Errorf("%s is %q", name, all["project/"+name])
		}
	}
	for _, copied := range []string{"e/d", "f"} {
		for name, what := range maps.Clone(all) {
			if rest, ok := strings.CutPrefix(name, "project/d"); ok && (rest == "" || rest[0] == '/') {
				if got := all["project/"+copied+rest]; got != what {
					t.Errorf("%s%s is %q, the original %q", copied, rest, got, what)
				}
			}
		}
	}
	if tp.get("a.sh") != "a" || tp.get("../outside/secret") != "secret" {
		t.Error("the source changed")
	}
	if err := filepath.WalkDir(tp.dir, func(name string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(name, ".tmp") {
			t.Errorf("%s is left", name)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	tp.unchangedBy(func() {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		_, err := tp.copy(ended, moveArgs{"d", "g", false})
		wantOutcome(t, err, sdk.Aborted)
		_, err = tp.copy(ctx, moveArgs{".", "g", false})
		wantOutcome(t, err, sdk.Validation)
		_, err = tp.copy(ctx, moveArgs{"d/out", "g", false})
		wantOutcome(t, err, sdk.Permission)
	})
}

// TestRenameRefusesInOneStep looks at what is left when a name is taken between
// the check and the rename.
func TestRenameRefusesInOneStep(t *testing.T) {
	tp := newProject(t, map[string]string{"a": "a", "b": "b", "d/": "", "link": "-> nowhere"})
	tp.unchangedBy(func() {
		for _, name := range []string{"b", "d", "link"} {
			if err := rename(tp.root, "a", tp.root, name, false); !errors.Is(err, fs.ErrExist) {
				t.Errorf("onto %s: %v", name, err)
			}
		}
	})
	if err := rename(tp.root, "a", tp.root, "b", true); err != nil || tp.get("b") != "a" {
		t.Error(err)
	}
}
