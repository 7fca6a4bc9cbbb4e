package main

import (
	"reflect"
	"strings"
	"testing"
)

func TestHunks(t *testing.T) {
	was := func(s string) *string { return &s }
	for name, c := range map[string]struct {
		diff string
		want []hunk
	}{
		"a change": {"--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
			[]hunk{{"a.txt", was("one\ntwo\nthree\n"), "one\n2\nthree\n"}}},
		"two places": {"--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+1\n@@ -9 +9,2 @@\n nine\n+ten\n",
			[]hunk{{"a.txt", was("one\n"), "1\n"}, {"a.txt", was("nine\n"), "nine\nten\n"}}},
		"a new file": {"diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+new\n",
			[]hunk{{"n", nil, "new\n"}}},
		"a deleted file": {"--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n",
			[]hunk{{"d", was("gone\n"), ""}}},
		"lines like heads": {"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/y\n++++ b/y\n @@ -1 +1 @@\n",
			[]hunk{{"x", was("-- a/y\n@@ -1 +1 @@\n"), "+++ b/y\n@@ -1 +1 @@\n"}}},
		"no line break at the end": {"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n\\ No newline at end of file\n+two\n\\ No newline at end of file\n",
			[]hunk{{"x", was("one"), "two"}}},
		"two files": {"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-3\n+4\n",
			[]hunk{{"x", was("1\n"), "2\n"}, {"y", was("3\n"), "4\n"}}},
		"moved":   {"diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", nil},
		"no diff": {"Created a.txt (4 bytes)", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := hunks(c.diff); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// FuzzHunks: nothing makes it fail, and no line comes to be that does not stand there.
func FuzzHunks(f *testing.F) {
	f.Add("--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n")
	f.Add("@@ -99999999999999999999 +1 @@\n+x\n\\ No newline at end of file\n")
	f.Add("@@ -1,2 +0,0 @@\n\n\n")
	f.Fuzz(func(t *testing.T, diff string) {
		for _, h := range hunks(diff) {
			both := h.text
			if h.old != nil {
				both += "\n" + *h.old
			}
			for line := range strings.SplitSeq(both, "\n") {
				if !strings.Contains(diff, line) {
					t.Errorf("%q does not stand in %q", line, diff)
				}
			}
		}
	})
}
