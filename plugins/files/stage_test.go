package main

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/tool"
)

// staging is the plugin's tools at the other end of a connection, over one
// project.
type staging struct {
	*testProject
	client *tool.Client
}

func newStaging(t *testing.T, files map[string]string) staging {
	return staging{newProject(t, files), served(t)}
}

func (s staging) call(name string, arguments object, base string) sdk.Invocation {
	raw, err := json.Marshal(arguments)
	if err != nil {
		s.t.Fatal(err)
	}
	return sdk.Invocation{Tool: name, Arguments: raw, Project: s.dir, CallID: name, Base: base}
}

func (s staging) stage(name string, arguments object) (sdk.Staged, error) {
	return s.client.Stage(context.Background(), s.call(name, arguments, ""))
}

func (s staging) invoke(name string, arguments object, base string) sdk.ToolResult {
	s.t.Helper()
	got, err := s.client.Invoke(context.Background(), s.call(name, arguments, base), nowhere{s.t})
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

var stagedFiles = map[string]string{
	"a.txt": "one\ntwo\nthree\n", "bin": "a\x00b", "d/x": "x\n", "d/e/y": "y\n", "d/empty/": "", "latin": "caf\xe9\nb\n", "none": "",
	"link": "-> a.txt", "ro": "keep\n", ".git/config": "[core]\n",
}

var stagedCases = []struct {
	name, tool string
	arguments  object
	diff       string
}{
	{"write a new file", "write_file", object{"path": "n.txt", "content": "hi\n"},
		"diff --git a/n.txt b/n.txt\nnew file mode 100644\n--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+hi\n"},
	{"write in new folders", "write_file", object{"path": "p/q/n.txt", "content": "hi"},
		"diff --git a/p/ b/p/\nnew directory mode 040000\ndiff --git a/p/q/ b/p/q/\nnew directory mode 040000\n" +
			"diff --git a/p/q/n.txt b/p/q/n.txt\nnew file mode 100644\n--- /dev/null\n+++ b/p/q/n.txt\n@@ -0,0 +1 @@\n+hi\n\\ No newline at end of file\n"},
	{"write an empty file", "write_file", object{"path": "n", "content": ""}, "diff --git a/n b/n\nnew file mode 100644\n"},
	{"replace", "write_file", object{"path": "link", "content": "one\n2\nthree\n"},
		"diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"},
	{"replace by the same", "write_file", object{"path": "a.txt", "content": "one\ntwo\nthree\n"}, "[a.txt stays as it is: its contents are these already]\n"},
	{"replace what is binary", "write_file", object{"path": "bin", "content": "t\n"},
		"diff --git a/bin b/bin\nBinary file a/bin is not shown: 3 bytes, sha256 " + hashOf("a\x00b") + "\n--- /dev/null\n+++ b/bin\n@@ -0,0 +1 @@\n+t\n"},
	{"write what is no text", "write_file", object{"path": "n", "content": "a\x00b\n"},
		"diff --git a/n b/n\nnew file mode 100644\n[bytes that are no text are written as \\xNN]\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\\x00b\n"},
	{"edit", "edit_file", object{"path": "a.txt", "old_text": "two\n", "new_text": ""},
		"diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,2 @@\n one\n-two\n three\n"},
	{"edit what is no UTF-8", "edit_file", object{"path": "latin", "old_text": "b", "new_text": "c"},
		"diff --git a/latin b/latin\n[bytes that are no text are written as \\xNN]\n--- a/latin\n+++ b/latin\n@@ -1,2 +1,2 @@\n caf\\xe9\n-b\n+c\n"},
	{"create", "create_directory", object{"path": "p/q"},
		"diff --git a/p/ b/p/\nnew directory mode 040000\ndiff --git a/p/q/ b/p/q/\nnew directory mode 040000\n"},
	{"create what is there", "create_directory", object{"path": "d"}, "[the directory d exists already; nothing would be done]\n"},
	{"delete", "delete_path", object{"path": "ro"},
		"diff --git a/ro b/ro\ndeleted file mode 100444\n--- a/ro\n+++ /dev/null\n@@ -1 +0,0 @@\n-keep\n"},
	{"delete a link", "delete_path", object{"path": "link"},
		"diff --git a/link b/link\ndeleted file mode 120000\n--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-a.txt\n\\ No newline at end of file\n"},
	{"delete what is binary", "delete_path", object{"path": "bin"},
		"diff --git a/bin b/bin\ndeleted file mode 100644\nBinary file a/bin is not shown: 3 bytes, sha256 " + hashOf("a\x00b") + "\n"},
	{"delete a folder", "delete_path", object{"path": "d", "recursive": true},
		"diff --git a/d/ b/d/\ndeleted directory mode 040000\ndiff --git a/d/e/ b/d/e/\ndeleted directory mode 040000\n" +
			"diff --git a/d/e/y b/d/e/y\ndeleted file mode 100644\n--- a/d/e/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n" +
			"diff --git a/d/empty/ b/d/empty/\ndeleted directory mode 040000\n" +
			"diff --git a/d/x b/d/x\ndeleted file mode 100644\n--- a/d/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"},
	{"move", "move_path", object{"source": "link", "destination": "p/l"},
		"diff --git a/p/ b/p/\nnew directory mode 040000\ndiff --git a/link b/p/l\nsimilarity index 100%\nrename from link\nrename to p/l\n"},
	{"move over a file", "move_path", object{"source": "bin", "destination": "a.txt", "overwrite": true},
		"diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n--- a/a.txt\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-one\n-two\n-three\n" +
			"diff --git a/bin b/a.txt\nsimilarity index 100%\nrename from bin\nrename to a.txt\n"},
	{"move a folder", "move_path", object{"source": "d/e", "destination": "z"},
		"diff --git a/d/e/ b/z/\nsimilarity index 100%\nrename from d/e/\nrename to z/\ndiff --git a/d/e/y b/z/y\nsimilarity index 100%\nrename from d/e/y\nrename to z/y\n"},
	{"copy", "copy_path", object{"source": "link", "destination": "c"},
		"diff --git a/a.txt b/c\nsimilarity index 100%\ncopy from a.txt\ncopy to c\n"},
	{"copy a folder", "copy_path", object{"source": "d/e", "destination": "d/f"},
		"diff --git a/d/e/ b/d/f/\nsimilarity index 100%\ncopy from d/e/\ncopy to d/f/\ndiff --git a/d/e/y b/d/f/y\nsimilarity index 100%\ncopy from d/e/y\ncopy to d/f/y\n"},
}

// TestStaged shows what each tool would do, without doing it, then does it with
// what was agreed to.
func TestStaged(t *testing.T) {
	for _, tt := range stagedCases {
		t.Run(tt.name, func(t *testing.T) {
			s := newStaging(t, stagedFiles)
			if err := os.Chmod(filepath.Join(s.dir, "ro"), 0o444); err != nil {
				t.Fatal(err)
			}
			var staged sdk.Staged
			s.unchangedBy(func() {
				var err error
				if staged, err = s.stage(tt.tool, tt.arguments); err != nil {
					t.Fatal(err)
				}
				again, err := s.stage(tt.tool, tt.arguments)
				if err != nil || again != staged {
					t.Errorf("asked again: %+v, %v", again, err)
				}
			})
			if staged.Diff != tt.diff || staged.Base == "" {
				t.Errorf("%s", staged.Diff)
			}
			if got := s.invoke(tt.tool, tt.arguments, staged.Base); !got.Success {
				t.Fatalf("%+v", got)
			}
			if strings.HasPrefix(staged.Diff, "[") {
				return
			}
			again := s.invoke(tt.tool, tt.arguments, staged.Base)
			if idempotent := tt.tool == "write_file" || tt.tool == "create_directory"; again.Success != idempotent {
				t.Errorf("a second time: %+v", again)
			}
		})
	}
}

// TestStagedIsBound makes one change after each call was shown: nothing of the
// call is then done.
func TestStagedIsBound(t *testing.T) {
	other := object{"source": "d", "destination": "p/q/z"}
	for _, tt := range []struct {
		name, tool string
		arguments  object
		change     func(s staging)
		names      string
	}{
		{"contents", "write_file", object{"path": "a.txt", "content": "x"}, func(s staging) { s.put("a.txt", "one\ntwo\nthreE\n") }, "a.txt"},
		{"mode", "write_file", object{"path": "a.txt", "content": "x"}, func(s staging) { chmod(s, "a.txt", 0o755) }, "a.txt"},
		{"made", "write_file", object{"path": "n", "content": "x"}, func(s staging) { s.put("n", "") }, "n"},
		{"gone", "write_file", object{"path": "a.txt", "content": "x"}, func(s staging) { remove(s, "a.txt") }, "a.txt"},
		{"a folder made", "write_file", object{"path": "n/m", "content": "x"}, func(s staging) { s.put("n/", "") }, "something around n/m"},
		{"a link turned", "write_file", object{"path": "link", "content": "x"}, func(s staging) { remove(s, "link"); s.put("link", "-> d/x") }, "d/x"},
		{"beside the place", "edit_file", object{"path": "a.txt", "old_text": "one", "new_text": "x"}, func(s staging) { s.put("a.txt", "one\ntwo\nthreE\n") }, "a.txt"},
		{"a folder filled", "delete_path", object{"path": "d", "recursive": true}, func(s staging) { s.put("d/new", "") }, "d/new"},
		{"a folder changed deep", "delete_path", object{"path": "d", "recursive": true}, func(s staging) { s.put("d/e/y", "z\n") }, "d/e/y"},
		{"a folder emptied", "move_path", other, func(s staging) { remove(s, "d/e/y") }, "something in d"},
		{"the source", "move_path", other, func(s staging) { s.put("d/x", "other\n") }, "d/x"},
		{"the destination", "copy_path", object{"source": "a.txt", "destination": "bin", "overwrite": true}, func(s staging) { s.put("bin", "a\x00c") }, "bin"},
		{"the source of a copy", "copy_path", other, func(s staging) { chmod(s, "d/e", 0o700) }, "d/e"},
		{"the target of a link", "move_path", object{"source": "link", "destination": "l"}, func(s staging) { remove(s, "link"); s.put("link", "-> bin") }, "link"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStaging(t, stagedFiles)
			staged, err := s.stage(tt.tool, tt.arguments)
			if err != nil {
				t.Fatal(err)
			}
			tt.change(s)
			s.unchangedBy(func() {
				got := s.invoke(tt.tool, tt.arguments, staged.Base)
				if got.Success || got.Outcome != sdk.Conflict || !strings.HasPrefix(got.Error, tt.names+" changed since") || len(got.Changes) > 0 {
					t.Errorf("%+v", got)
				}
				if got = s.invoke(tt.tool, tt.arguments, "made up"); got.Outcome != sdk.Conflict {
					t.Errorf("a base that is none: %+v", got)
				}
			})
		})
	}
}

// TestStagedIsBoundToItsCall: what was shown of one call agrees to no other.
func TestStagedIsBoundToItsCall(t *testing.T) {
	s := newStaging(t, stagedFiles)
	staged, err := s.stage("write_file", object{"path": "a.txt", "content": "harmless\n"})
	if err != nil {
		t.Fatal(err)
	}
	s.unchangedBy(func() {
		for name, arguments := range map[string]object{
			"write_file":  {"path": "a.txt", "content": "other\n"},
			"edit_file":   {"path": "a.txt", "old_text": "one", "new_text": "1"},
			"delete_path": {"path": "a.txt"},
			"move_path":   {"source": "a.txt", "destination": "z"},
			"copy_path":   {"source": "a.txt", "destination": "z"},
		} {
			if got := s.invoke(name, arguments, staged.Base); got.Outcome != sdk.Conflict {
				t.Errorf("%s: %+v", name, got)
			}
		}
	})
}

// TestStagingRefuses what the call itself would refuse, so that nobody is asked
// about it.
func TestStagingRefuses(t *testing.T) {
	s := newStaging(t, stagedFiles)
	s.put("out", "-> ../outside")
	s.put("abs", "-> "+s.outside)
	s.put("hooks", "-> .git/hooks")
	chmod(s, "ro", 0o444)
	long := strings.Repeat("n", 300)
	for _, tt := range []struct {
		tool      string
		arguments object
		outcome   sdk.Outcome
	}{
		{"write_file", object{"path": ".git/config", "content": "x"}, sdk.Permission},
		{"write_file", object{"path": ".git/hooks/new/pre-commit", "content": "x"}, sdk.Permission},
		{"write_file", object{"path": "sub/.git/config", "content": "x"}, sdk.Permission},
		{"write_file", object{"path": "hooks/pre-commit", "content": "x"}, sdk.Permission},
		{"write_file", object{"path": ".bothy/x", "content": "x"}, sdk.Permission},
		{"write_file", object{"path": "out/x", "content": "x"}, sdk.Permission},
		{"write_file", object{"path": "abs/x", "content": "x"}, sdk.Permission},
		{"write_file", object{"path": "../x", "content": "x"}, sdk.Permission},
		{"write_file", object{"path": "d", "content": "x"}, sdk.Validation},
		{"write_file", object{"path": "ro", "content": "x"}, sdk.Permission},
		{"write_file", object{"path": "a.txt/n", "content": "x"}, sdk.Validation},
		{"write_file", object{"path": "n/" + long, "content": "x"}, sdk.Validation},
		{"write_file", object{"path": "a.txt", "contents": "x"}, sdk.Validation},
		{"edit_file", object{"path": "gone", "old_text": "x", "new_text": "y"}, sdk.NotFound},
		{"edit_file", object{"path": "a.txt", "old_text": "nowhere", "new_text": "y"}, sdk.Conflict},
		{"edit_file", object{"path": "a.txt", "old_text": "x", "new_text": "x"}, sdk.Validation},
		{"edit_file", object{"path": "ro", "old_text": "keep", "new_text": "y"}, sdk.Permission},
		{"edit_file", object{"path": "bin", "old_text": "a", "new_text": "y"}, sdk.Validation},
		{"create_directory", object{"path": "a.txt"}, sdk.Conflict},
		{"create_directory", object{"path": "x/.git"}, sdk.Permission},
		{"delete_path", object{"path": "gone"}, sdk.NotFound},
		{"delete_path", object{"path": "d"}, sdk.Conflict},
		{"delete_path", object{"path": ".git", "recursive": true}, sdk.Permission},
		{"move_path", object{"source": "gone", "destination": "x"}, sdk.NotFound},
		{"move_path", object{"source": "a.txt", "destination": "d"}, sdk.Conflict},
		{"move_path", object{"source": "a.txt", "destination": "bin"}, sdk.Conflict},
		{"move_path", object{"source": "d", "destination": "d/in/it"}, sdk.Validation},
		{"move_path", object{"source": "a.txt", "destination": ".git/hooks/x"}, sdk.Permission},
		{"copy_path", object{"source": "a.txt", "destination": "ro", "overwrite": true}, sdk.Permission},
		{"copy_path", object{"source": ".", "destination": "x"}, sdk.Validation},
	} {
		s.unchangedBy(func() {
			staged, err := s.stage(tt.tool, tt.arguments)
			wantOutcome(t, err, tt.outcome)
			if t.Failed() {
				t.Fatalf("%s %v: %+v", tt.tool, tt.arguments, staged)
			}
		})
		if got, err := s.client.Invoke(context.Background(), s.call(tt.tool, tt.arguments, ""), nowhere{t}); err == nil && got.Outcome != tt.outcome {
			t.Errorf("%s %v: staging says %s, the call %s", tt.tool, tt.arguments, tt.outcome, got.Outcome)
		}
	}
	_, err := s.stage("read_file", object{"path": "a.txt"})
	wantOutcome(t, err, sdk.Unavailable)
}

// TestStagedLinkSwapped turns a link to a forbidden place after the call was
// shown.
func TestStagedLinkSwapped(t *testing.T) {
	for _, target := range []string{"../outside", ".git", "../../outside"} {
		s := newStaging(t, map[string]string{"d/f": "fine\n", "l": "-> d", ".git/f": "hook\n", "../outside/f": "out\n", "spare": "s"})
		calls := map[string]object{
			"write_file": {"path": "l/f", "content": "evil"}, "edit_file": {"path": "l/f", "old_text": "f", "new_text": "evil"},
			"create_directory": {"path": "l/hooks"}, "delete_path": {"path": "l/f"}, "copy_path": {"source": "spare", "destination": "l/f", "overwrite": true},
		}
		bases := map[string]string{}
		for name, arguments := range calls {
			staged, err := s.stage(name, arguments)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			bases[name] = staged.Base
		}
		remove(s, "l")
		s.put("l", "-> "+target)
		s.unchangedBy(func() {
			for name, arguments := range calls {
				if got := s.invoke(name, arguments, bases[name]); got.Success || got.Outcome != sdk.Permission && got.Outcome != sdk.Conflict {
					t.Errorf("%s through a link to %s: %+v", name, target, got)
				}
			}
		})
	}
}

// TestStillIsAskedLast changes the project after the plan was agreed to, as
// somebody would who is quick.
func TestStillIsAskedLast(t *testing.T) {
	ctx := context.Background()
	for name, op := range map[string]struct {
		plan func(p *project) (*plan, error)
		do   func(p *project) error
	}{
		"write": {
			func(p *project) (*plan, error) {
				return p.planWrite(ctx, writeArgs{"d/x", "new"}, megabytes)
			},
			func(p *project) error { _, err := p.write(ctx, writeArgs{"d/x", "new"}, megabytes); return err },
		},
		"edit": {
			func(p *project) (*plan, error) {
				return p.planEdit(ctx, editArgs{"d/x", "x", "new"}, megabytes)
			},
			func(p *project) error { _, err := p.edit(ctx, editArgs{"d/x", "x", "new"}, megabytes); return err },
		},
		"delete": {
			func(p *project) (*plan, error) { return p.planDelete(ctx, deleteArgs{"d", true}) },
			func(p *project) error { _, err := p.delete(ctx, deleteArgs{"d", true}); return err },
		},
		"move": {
			func(p *project) (*plan, error) { return p.planMove(ctx, moveArgs{"d", "z", false}) },
			func(p *project) error { _, err := p.move(ctx, moveArgs{"d", "z", false}); return err },
		},
		"move onto": {
			func(p *project) (*plan, error) { return p.planMove(ctx, moveArgs{"none", "d/x", true}) },
			func(p *project) error { _, err := p.move(ctx, moveArgs{"none", "d/x", true}); return err },
		},
		"copy": {
			func(p *project) (*plan, error) { return p.planCopy(ctx, moveArgs{"d", "z", false}) },
			func(p *project) error { _, err := p.copy(ctx, moveArgs{"d", "z", false}); return err },
		},
	} {
		t.Run(name, func(t *testing.T) {
			tp := newProject(t, stagedFiles)
			agreed, err := op.plan(tp.project)
			if err != nil {
				t.Fatal(err)
			}
			if err := tp.agree(agreed, agreed.base()); err != nil {
				t.Fatal(err)
			}
			tp.put("d/x", "x \n")
			tp.unchangedBy(func() { wantOutcome(t, op.do(tp.project), sdk.Conflict, "to the person who agreed") })
			tp.put("d/x", "x\n") // as it was, but touched: the time of a change cannot be set back
			tp.unchangedBy(func() { wantOutcome(t, op.do(tp.project), sdk.Conflict) })
			if agreed, err = op.plan(tp.project); err != nil {
				t.Fatal(err)
			}
			tp.agreed = agreed
			if err := op.do(tp.project); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestStagedIsBounded: what is left out of a difference is said, and all of it
// is bound all the same.
func TestStagedIsBounded(t *testing.T) {
	s := newStaging(t, map[string]string{"big": strings.Repeat("line\n", 100_000)})
	staged, err := s.stage("write_file", object{"path": "big", "content": strings.Repeat("other\n", 100_000)})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(staged.Diff); n < shownPatch/2 || n > shownPatch+1000 || !strings.Contains(staged.Diff, " lines more of this file are not shown]\n[not shown: ") || !strings.HasSuffix(staged.Diff, "]\n") {
		t.Errorf("%d bytes, ending %q", n, staged.Diff[max(0, n-300):])
	}
	s.put("big", strings.Repeat("line\n", 99_999)+"Line\n")
	if got := s.invoke("write_file", object{"path": "big", "content": strings.Repeat("other\n", 100_000)}, staged.Base); got.Outcome != sdk.Conflict {
		t.Errorf("the end of a file that was not shown: %+v", got)
	}

	huge := filepath.Join(s.dir, "huge")
	if err := os.WriteFile(huge, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, mostHashed+1); err != nil {
		t.Fatal(err)
	}
	if staged, err = s.stage("delete_path", object{"path": "huge"}); err != nil || !strings.Contains(staged.Diff, "File a/huge is not shown: 268.4 MB, not read: at most 268.4 MB are read of one call\n") {
		t.Errorf("%q, %v", staged.Diff, err)
	}
	if err := os.Truncate(huge, mostHashed+2); err != nil {
		t.Fatal(err)
	}
	if got := s.invoke("delete_path", object{"path": "huge"}, staged.Base); got.Outcome != sdk.Conflict {
		t.Errorf("a file that was not read: %+v", got)
	}

	for i := range 3000 {
		s.put("many/"+strings.Repeat("f", i%40)+string(rune('a'+i%26))+strings.Repeat("g", i/40), strings.Repeat("z\n", 50))
	}
	if staged, err = s.stage("delete_path", object{"path": "many", "recursive": true}); err != nil {
		t.Fatal(err)
	}
	if n := len(staged.Diff); n > shownPatch+1000 || !strings.Contains(staged.Diff[n-300:], " more files, for this is longer than") {
		t.Errorf("%d bytes, ending %q", n, staged.Diff[max(0, n-300):])
	}
}

func chmod(s staging, name string, mode os.FileMode) {
	s.t.Helper()
	if err := os.Chmod(filepath.Join(s.dir, name), mode); err != nil {
		s.t.Fatal(err)
	}
}

func remove(s staging, name string) {
	s.t.Helper()
	if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
		s.t.Fatal(err)
	}
}

// TestStagedProperties draws calls over a small project: staging changes
// nothing, carrying out what was shown makes of the project what the difference
// says, and any change in between is a conflict.
func TestStagedProperties(t *testing.T) {
	paths := []string{"a", "b", "d/a", "d/e/a", "new", "n/m/o", "d", "d/e"}
	path := rapid.SampledFrom(paths)
	text := rapid.StringMatching(`([ab\t+-]{0,3}\n){0,4}[ab]{0,2}`)
	client := served(t)
	done := 0
	rapid.Check(t, func(rt *rapid.T) {
		tp := &testProject{t: t, outside: t.TempDir()}
		var err error
		if tp.project, err = openProject(t.TempDir()); err != nil {
			t.Fatal(err)
		}
		defer tp.close()
		s := staging{tp, client}
		for _, name := range paths[:4] {
			s.put(name, text.Draw(rt, name))
		}
		name, arguments := drawCall(rt, path, text)
		before := contents(s)
		staged, err := s.stage(name, arguments)
		if after := contents(s); !maps.Equal(before, after) {
			rt.Fatalf("staging made %v of %v", after, before)
		}
		if err != nil {
			if got, err := client.Invoke(context.Background(), s.call(name, arguments, ""), nowhere{t}); err == nil && got.Success {
				rt.Fatalf("%s %v was refused and can be done", name, arguments)
			}
			return
		}
		touched := rapid.SampledFrom(append([]string{""}, slices.Sorted(maps.Keys(before))...)).Draw(rt, "touched")
		if touched != "" && !strings.HasSuffix(touched, "/") && strings.Contains(staged.Diff, " a/"+touched+" ") {
			s.put(touched, before[touched]+"!")
			was := contents(s)
			got := s.invoke(name, arguments, staged.Base)
			if got.Success || got.Outcome != sdk.Conflict || !maps.Equal(was, contents(s)) {
				rt.Fatalf("%s %v after a change of %s: %+v", name, arguments, touched, got)
			}
			return
		}
		if got := s.invoke(name, arguments, staged.Base); !got.Success {
			rt.Fatalf("%s %v: %+v", name, arguments, got)
		}
		if want, after := patched(rt, before, staged.Diff), contents(s); !maps.Equal(want, after) {
			rt.Fatalf("%s %v made\n%v, and the difference says\n%v\n%s", name, arguments, after, want, staged.Diff)
		}
		done++
	})
	if done < 10 {
		t.Errorf("%d calls were carried out", done)
	}
}

func drawCall(rt *rapid.T, path, text *rapid.Generator[string]) (string, object) {
	at, to, overwrite := path.Draw(rt, "path"), path.Draw(rt, "to"), rapid.Bool().Draw(rt, "overwrite")
	switch name := rapid.SampledFrom([]string{"write_file", "edit_file", "create_directory", "delete_path", "move_path", "copy_path"}).Draw(rt, "tool"); name {
	case "write_file":
		return name, object{"path": at, "content": text.Draw(rt, "content")}
	case "edit_file":
		return name, object{"path": at, "old_text": rapid.SampledFrom([]string{"a", "b", "a\n", "ab"}).Draw(rt, "old"), "new_text": text.Draw(rt, "new")}
	case "create_directory":
		return name, object{"path": at}
	case "delete_path":
		return name, object{"path": at, "recursive": overwrite}
	default:
		return name, object{"source": at, "destination": to, "overwrite": overwrite}
	}
}
