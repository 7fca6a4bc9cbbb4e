package show

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// FuzzDifference: a plain difference hides no line but what stands around a change, and heads
// that name the one file.
func FuzzDifference(f *testing.F) {
	for _, seed := range []string{
		"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n\\ No newline at end of file\n",
		"diff --git a/a b/a\nsimilarity index 100%\nrename from a\nrename to a\n",
		"diff --git a/a b/a\ndeleted file mode 100644\n--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
		"new file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n",
		"# new directory a/\n", "# a stays as it is: its contents are these already\n", "--- a/b\n+++ b/a\n", "@@ -1 +1 @@\n-x\n",
	} {
		f.Add(seed)
	}
	hidden := regexp.MustCompile(`^( .*|@@ .*|diff --git a/a b/a|new file mode 100644|similarity index 100%|--- (a/a|a|/dev/null)\t?|\+\+\+ (b/a|a)\t?|\\ No newline at end of file|)$`)
	f.Fuzz(func(t *testing.T, diff string) {
		named := func(name string) bool { return name == "a" }
		d := differenceOf(diff, named, named)
		for line := range strings.Lines(diff) {
			line = strings.TrimSuffix(line, "\n")
			gone := strings.TrimSuffix(line, "\t") == "+++ /dev/null" && slices.ContainsFunc(d.lines, deletedFile.MatchString)
			if d.plain && !slices.Contains(d.lines, line) && !hidden.MatchString(line) && !gone {
				t.Errorf("%q of %q is hidden", line, diff)
			}
		}
	})
}
