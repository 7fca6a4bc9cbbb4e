package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
		"# new directory p/\n# new directory p/q/\n" +
			"diff --git a/p/q/n.txt b/p/q/n.txt\nnew file mode 100644\n--- /dev/null\n+++ b/p/q/n.txt\n@@ -0,0 +1 @@\n+hi\n\\ No newline at end of file\n"},
	{"write an empty file", "write_file", object{"path": "n", "content": ""}, "diff --git a/n b/n\nnew file mode 100644\n"},
	{"replace", "write_file", object{"path": "link", "content": "one\n2\nthree\n"},
		"diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"},
	{"replace by the same", "write_file", object{"path": "a.txt", "content": "one\ntwo\nthree\n"}, "# a.txt stays as it is: its contents are these already\n"},
	{"replace what is binary", "write_file", object{"path": "bin", "content": "t\n"},
		"diff --git a/bin b/bin\n# the binary file a/bin is not shown: 3 bytes, sha256 " + hashOf("a\x00b") + "\n--- /dev/null\n+++ b/bin\n@@ -0,0 +1 @@\n+t\n"},
	{"write what is no text", "write_file", object{"path": "n", "content": "a\x00b\n"},
		"diff --git a/n b/n\nnew file mode 100644\n# bytes that are no text are written as \\xNN\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\\x00b\n"},
	{"edit", "edit_file", object{"path": "a.txt", "old_text": "two\n", "new_text": ""},
		"diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,2 @@\n one\n-two\n three\n"},
	{"edit what is no UTF-8", "edit_file", object{"path": "latin", "old_text": "b", "new_text": "c"},
		"diff --git a/latin b/latin\n# bytes that are no text are written as \\xNN\n--- a/latin\n+++ b/latin\n@@ -1,2 +1,2 @@\n caf\\xe9\n-b\n+c\n"},
	{"edit by markers", "edit_file", object{"path": "a.txt", "old_text": "", "new_text": "<<SEARCH\ntwo\nSEARCH\n<<REPLACE\n2\nREPLACE\n<<APPEND\nfour\nAPPEND"},
		"diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n three\n+four\n"},
	{"edit by markers what is not there", "edit_file", object{"path": "p/n", "old_text": "", "new_text": "<<APPEND\none\nAPPEND"},
		"# new directory p/\ndiff --git a/p/n b/p/n\nnew file mode 100644\n--- /dev/null\n+++ b/p/n\n@@ -0,0 +1 @@\n+one\n\\ No newline at end of file\n"},
	{"create", "create_directory", object{"path": "p/q"},
		"# new directory p/\n# new directory p/q/\n"},
	{"create what is there", "create_directory", object{"path": "d"}, "# the directory d exists already; nothing would be done\n"},
	{"delete", "delete_path", object{"path": "ro"},
		"diff --git a/ro b/ro\ndeleted file mode 100444\n--- a/ro\n+++ /dev/null\n@@ -1 +0,0 @@\n-keep\n"},
	{"delete a link", "delete_path", object{"path": "link"},
		"diff --git a/link b/link\ndeleted file mode 120000\n--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-a.txt\n\\ No newline at end of file\n"},
	{"delete what is binary", "delete_path", object{"path": "bin"},
		"diff --git a/bin b/bin\ndeleted file mode 100644\n# the binary file a/bin is not shown: 3 bytes, sha256 " + hashOf("a\x00b") + "\n"},
	{"delete a folder", "delete_path", object{"path": "d", "recursive": true},
		"# deleted directory d/\n# deleted directory d/e/\n" +
			"diff --git a/d/e/y b/d/e/y\ndeleted file mode 100644\n--- a/d/e/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n" +
			"# deleted directory d/empty/\n" +
			"diff --git a/d/x b/d/x\ndeleted file mode 100644\n--- a/d/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"},
	{"move", "move_path", object{"source": "link", "destination": "p/l"},
		"# new directory p/\ndiff --git a/link b/p/l\nsimilarity index 100%\nrename from link\nrename to p/l\n"},
	{"move over a file", "move_path", object{"source": "bin", "destination": "a.txt", "overwrite": true},
		"diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n--- a/a.txt\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-one\n-two\n-three\n" +
			"diff --git a/bin b/a.txt\nsimilarity index 100%\nrename from bin\nrename to a.txt\n"},
	{"copy over a file of another mode", "copy_path", object{"source": "ro", "destination": "none", "overwrite": true},
		"diff --git a/none b/none\ndeleted file mode 100644\n# the mode of none was 100644 and would be 100444\ndiff --git a/ro b/none\nsimilarity index 100%\ncopy from ro\ncopy to none\n"},
	{"move a folder", "move_path", object{"source": "d/e", "destination": "z"},
		"# rename directory d/e/ to z/\ndiff --git a/d/e/y b/z/y\nsimilarity index 100%\nrename from d/e/y\nrename to z/y\n"},
	{"copy", "copy_path", object{"source": "link", "destination": "c"},
		"diff --git a/a.txt b/c\nsimilarity index 100%\ncopy from a.txt\ncopy to c\n"},
	{"copy a folder", "copy_path", object{"source": "d/e", "destination": "d/f"},
		"# copy directory d/e/ to d/f/\ndiff --git a/d/e/y b/d/f/y\nsimilarity index 100%\ncopy from d/e/y\ncopy to d/f/y\n"},
}

// TestStaged shows what each tool would do, without doing it, then does it with
// what was agreed to.
// spec: wrong_new_file
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
			if strings.Contains(staged.Diff, " already") {
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
// spec: wrong_accept_outside
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
