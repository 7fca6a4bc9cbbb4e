package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

func TestWrite(t *testing.T) {
	ctx := context.Background()
	tp := newProject(t, map[string]string{"old.sh": "old", "dir/": "", "ro": "keep"})
	for name, mode := range map[string]fs.FileMode{"old.sh": 0o750, "ro": 0o444} {
		if err := os.Chmod(filepath.Join(tp.dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	got, err := tp.write(ctx, writeArgs{Path: "a/b/c.txt", Content: "hello"})
	if err != nil || tp.get("a/b/c.txt") != "hello" || got.text != "Created a/b/c.txt (5 bytes)" {
		t.Errorf("%q, %v", got.text, err)
	}
	if data := got.data.(writeData); !data.Created || data.Bytes != 5 || data.Path != "a/b/c.txt" {
		t.Errorf("%+v", data)
	}
	got, err = tp.write(ctx, writeArgs{Path: "old.sh", Content: "new"})
	if err != nil || tp.get("old.sh") != "new" || got.data.(writeData).Created {
		t.Errorf("%+v, %v", got, err)
	}
	if info, err := os.Stat(filepath.Join(tp.dir, "old.sh")); err != nil || info.Mode() != 0o750 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	tp.unchangedBy(func() {
		_, err = tp.write(ctx, writeArgs{Path: "dir", Content: "x"})
		wantOutcome(t, err, sdk.Validation, "directory")
		_, err = tp.write(ctx, writeArgs{Path: ".", Content: "x"})
		wantOutcome(t, err, sdk.Validation, "project")
		_, err = tp.write(ctx, writeArgs{Path: "old.sh/x", Content: "x"})
		wantOutcome(t, err, sdk.Validation, "not a directory")
		_, err = tp.write(ctx, writeArgs{Path: "ro", Content: "x"})
		wantOutcome(t, err, sdk.Permission, "read-only", "0444")
		_, err = tp.write(ctx, writeArgs{Path: "big", Content: strings.Repeat("x", megabytes+1)})
		wantOutcome(t, err, sdk.Overflow, "2.0 MB")
		_, err = tp.write(ctx, writeArgs{Path: strings.Repeat("n", 300), Content: "x"})
		wantOutcome(t, err, sdk.Validation, "file name too long")
		ended, cancel := context.WithCancel(ctx)
		cancel()
		_, err = tp.write(ended, writeArgs{Path: "old.sh", Content: "x"})
		wantOutcome(t, err, sdk.Aborted)
	})
}

func TestWriteRespectsTheUmask(t *testing.T) {
	tp := newProject(t, nil)
	old := syscall.Umask(0o027)
	_, err := tp.write(context.Background(), writeArgs{Path: "d/new", Content: "x"})
	syscall.Umask(old)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{"d/new": 0o640, "d": 0o750} {
		if info, err := os.Stat(filepath.Join(tp.dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, %v", name, info.Mode(), err)
		}
	}
}

func TestWriteThenReadGivesTheSameBytes(t *testing.T) {
	ctx := context.Background()
	tp := newProject(t, nil)
	part := rapid.StringMatching(`[a-z\x{e9} .~-]{1,6}`)
	rapid.Check(t, func(rt *rapid.T) {
		name := "in/" + strings.Join(rapid.SliceOfN(part, 1, 4).Draw(rt, "path"), "x/") + "x"
		content := rapid.OneOf(rapid.String(), rapid.StringMatching(`([ab]{0,3}(\r\n|\n)){0,9}[ab]{0,3}`)).Draw(rt, "content")
		if strings.ContainsRune(content, 0) {
			rt.Skip("binary")
		}
		if _, err := tp.write(ctx, writeArgs{Path: name, Content: content}); err != nil {
			if sdk.OutcomeOf(err) == sdk.Internal {
				rt.Fatal(err)
			}
			rt.Skip("the name is a folder, lies in a file, or leads outside: ", err)
		}
		got, err := tp.read(ctx, readArgs{Path: name})
		if err != nil || got.text != content {
			rt.Fatalf("wrote %q, read %q, %v", content, got.text, err)
		}
	})
}

// TestFailedWriteLeavesEverything lets a disk fail in the middle.
func TestFailedWriteLeavesEverything(t *testing.T) {
	tp := newProject(t, map[string]string{"a": "old"})
	for _, cause := range []error{syscall.ENOSPC, syscall.EIO, syscall.EDQUOT} {
		tp.unchangedBy(func() {
			pl, err := tp.target("a", lookup{})
			if err != nil {
				t.Fatal(err)
			}
			defer pl.close()
			err = fault("write", "a", pl.replace(nil, func(f *os.File) error {
				if _, err := f.WriteString("half"); err != nil {
					t.Fatal(err)
				}
				return &fs.PathError{Op: "write", Path: "a", Err: cause}
			}))
			wantOutcome(t, err, sdk.Internal, cause.Error())
			if !errors.Is(err, cause) {
				t.Errorf("%v lost its cause", err)
			}
		})
	}
}

// TestWriteToAFullDisk runs itself again with a limit on the size of files, so
// that the kernel fails the write.
// spec: wrong_disk_error
func TestWriteToAFullDisk(t *testing.T) {
	const variable = "BOTHY_TEST_SMALL_FILES"
	if dir := os.Getenv(variable); dir != "" {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100_000, Max: 100_000}); err != nil {
			t.Fatal(err)
		}
		p, err := openProject(dir)
		if err != nil {
			t.Fatal(err)
		}
		p.most = megabytes
		defer p.close()
		ctx := context.Background()
		_, err = p.write(ctx, writeArgs{Path: "a", Content: strings.Repeat("x", 200_000)})
		fmt.Printf("write: %v\n", err)
		_, err = p.copy(ctx, moveArgs{Source: "large", Destination: "copied/large"})
		fmt.Printf("copy: %v\n", err)
		_, err = p.copy(ctx, moveArgs{Source: "folder", Destination: "copied/folder"})
		fmt.Printf("copy folder: %v\n", err)
		return
	}
	tp := newProject(t, map[string]string{"a": "old", "large": strings.Repeat("x", 200_000), "folder/x": "x", "copied/": ""})
	tp.put("folder/y", strings.Repeat("y", 200_000))
	tp.unchangedBy(func() {
		cmd := exec.Command(os.Args[0], "-test.run=^TestWriteToAFullDisk$")
		cmd.Env = append(os.Environ(), variable+"="+tp.dir)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, op := range []string{"write", "copy", "copy folder"} {
			if !strings.Contains(string(out), op+": cannot ") {
				t.Errorf("%s did not fail:\n%s", op, out)
			}
		}
		if !strings.Contains(string(out), "file too large") {
			t.Errorf("the cause is not named:\n%s", out)
		}
	})
}

func TestEdit(t *testing.T) {
	ctx := context.Background()
	tp := newProject(t, map[string]string{
		"a.go": "func f() {\n\tif x {\n\t\ty()\n\t}\n}\n", "dos": "a\r\nb\r\n", "twice": "a\nb\na\n", "bin": "a\x00b", "latin": "caf\xe9 a\n",
		"link": "-> a.go", "empty": "", "run.sh": "one\n",
	})
	if err := os.Chmod(filepath.Join(tp.dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	got, err := tp.edit(ctx, editArgs{Path: "link", OldText: "if x {\n  y()\n}", NewText: "if x {\n  y()\n  z()\n}"})
	if err != nil {
		t.Fatal(err)
	}
	if data := got.data.(editData); data.Path != "a.go" || data.Line != 2 || !data.Reindented || !strings.Contains(data.Diff, "\n+\t  z()\n") {
		t.Errorf("%+v", data)
	}
	if !strings.Contains(got.text, "Edited a.go at line 2") || !strings.Contains(got.text, "check the result") || !strings.Contains(got.text, "@@") {
		t.Errorf("%s", got.text)
	}
	if _, err := os.Readlink(filepath.Join(tp.dir, "link")); err != nil {
		t.Error("the link was replaced by a file")
	}
	for _, tt := range []struct{ name, old, new, want string }{
		{"dos", "a\nb", "x\ny", "x\r\ny\r\n"},
		{"latin", "a\n", "b\n", "caf\xe9 b\n"},
		{"run.sh", "one", "$& $1", "$& $1\n"},
	} {
		if tt.name == "latin" {
			tt.old, tt.new = " a", " b"
		}
		if _, err := tp.edit(ctx, editArgs{Path: tt.name, OldText: tt.old, NewText: tt.new}); err != nil || tp.get(tt.name) != tt.want {
			t.Errorf("%s: %q, %v", tt.name, tp.get(tt.name), err)
		}
	}
	if info, err := os.Stat(filepath.Join(tp.dir, "run.sh")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}

	tp.unchangedBy(func() {
		for _, tt := range []struct {
			args    editArgs
			outcome sdk.Outcome
			words   []string
		}{
			{editArgs{"twice", "a", "z"}, sdk.Conflict, []string{"twice", "lines 1 and 3", "nothing was changed"}},
			{editArgs{"a.go", "nowhere", "z"}, sdk.Conflict, []string{"not found"}},
			{editArgs{"a.go", "func f() {\n\tif q {", "z"}, sdk.Conflict, []string{"line 2", "if q {"}},
			{editArgs{"a.go", "", "z"}, sdk.Validation, []string{"old_text is empty"}},
			{editArgs{"a.go", " \n", "z"}, sdk.Validation, []string{"nothing to search"}},
			{editArgs{"a.go", "x", "x"}, sdk.Validation, []string{"the same"}},
			{editArgs{"gone", "x", "y"}, sdk.NotFound, []string{"write_file"}},
			{editArgs{"gone/x", "x", "y"}, sdk.NotFound, []string{"gone"}},
			{editArgs{"bin", "a", "y"}, sdk.Validation, []string{"binary"}},
			{editArgs{"empty", "a", "y"}, sdk.Conflict, []string{"not found"}},
			{editArgs{".", "a", "y"}, sdk.Validation, []string{"project"}},
		} {
			_, err := tp.edit(ctx, tt.args)
			wantOutcome(t, err, tt.outcome, tt.words...)
		}
		tp.most = 80
		_, err := tp.edit(ctx, editArgs{"a.go", "z()", strings.Repeat("z", 100)})
		wantOutcome(t, err, sdk.Overflow)
		tp.most = 10
		_, err = tp.edit(ctx, editArgs{"a.go", "z()", "q"})
		wantOutcome(t, err, sdk.Overflow)
	})
}

func TestEditKeepsEverythingElse(t *testing.T) {
	ctx := context.Background()
	tp := newProject(t, nil)
	text := rapid.StringMatching(`([ \tab{}é$&]{0,6}\n){0,8}`)
	rapid.Check(t, func(rt *rapid.T) {
		before, after, middle := text.Draw(rt, "before"), text.Draw(rt, "after"), text.Draw(rt, "new")
		if _, err := tp.write(ctx, writeArgs{Path: "f", Content: before + "<here>\n" + after}); err != nil {
			rt.Fatal(err)
		}
		if _, err := tp.edit(ctx, editArgs{"f", "<here>\n", middle}); err != nil {
			rt.Fatal(err)
		}
		got, err := tp.read(ctx, readArgs{Path: "f"})
		if err != nil || got.text != before+middle+after || !utf8.ValidString(got.text) {
			rt.Fatalf("%q, %v", got.text, err)
		}
	})
}

func TestEditNoticesAnotherWriter(t *testing.T) {
	tp := newProject(t, map[string]string{"a": "one\n"})
	e, err := tp.editing(editArgs{"a", "one", "two"})
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	tp.put("a", "another\n")
	tp.unchangedBy(func() {
		err := e.replace(e.was, func(f *os.File) error {
			_, err := f.WriteString("mine\n")
			return err
		})
		wantOutcome(t, err, sdk.Conflict, "read it again")
	})
}
