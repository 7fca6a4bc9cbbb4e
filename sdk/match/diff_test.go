package match

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestDiff: a unified diff that other programs apply.
// spec: hedberg
func TestDiff(t *testing.T) {
	before := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	after := strings.Replace(before, "5\n", "five\n", 1)
	want := "--- a/n.txt\n+++ b/n.txt\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
	if got := Diff("n.txt", before, after); got != want {
		t.Errorf("got\n%s", got)
	}
	if got := Diff("n.txt", before, before); got != "" {
		t.Errorf("no change gave %q", got)
	}
	if got := Diff("n.txt", "a", "b"); !strings.Contains(got, `\ No newline at end of file`) {
		t.Errorf("got\n%s", got)
	}
}

// TestDiffNames: what git apply and patch read as the names of the files.
func TestDiffNames(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want string }{
		"changed":  {"d/a", "d/a", "--- a/d/a\n+++ b/d/a\n"},
		"added":    {"", "a", "--- /dev/null\n+++ b/a\n"},
		"deleted":  {"a", "", "--- a/a\n+++ /dev/null\n"},
		"moved":    {"a", "b", "--- a/a\n+++ b/b\n"},
		"spaces":   {"a b", "a b", "--- a/a b\t\n+++ b/a b\t\n"},
		"letters":  {"ä", "ä", "--- a/ä\n+++ b/ä\n"},
		"controls": {"a\n+++ b/x", "a\x1b\t\"\\", `--- "a/a\n+++ b/x"` + "\n" + `+++ "b/a\033\t\"\\"` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := DiffFiles(c.from, c.to, "x\n", "y\n"); got != c.want+"@@ -1 +1 @@\n-x\n+y\n" {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestDiffOfUnlikeFiles: a square algorithm would take 40 billion steps, or as
// many bytes.
func TestDiffOfUnlikeFiles(t *testing.T) {
	var before, after strings.Builder
	for i := range 200_000 {
		before.WriteString(strings.Repeat("a", i%17) + "\n")
		after.WriteString(strings.Repeat("b", i%13) + "\n")
	}
	var from, to runtime.MemStats
	runtime.ReadMemStats(&from)
	if Diff("x", before.String(), after.String()) == "" {
		t.Error("no difference")
	}
	runtime.ReadMemStats(&to)
	if took := to.TotalAlloc - from.TotalAlloc; took > 1<<30 {
		t.Errorf("%d bytes were allocated", took)
	}
}

func FuzzDiff(f *testing.F) {
	f.Add("a\nb\n", "a\nc\n")
	f.Add("a", "a\n")
	f.Add("", "\r\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		diff := Diff("x", before, after)
		if (diff == "") != (before == after) {
			t.Fatalf("%q and %q give the diff %q", before, after, diff)
		}
		if diff == "" {
			return
		}
		if got := apply(t, before, diff); got != after {
			t.Fatalf("applied to %q it gives %q, not %q\n%s", before, got, after, diff)
		}
	})
}

// apply is what patch does: it copies what lies between the hunks and checks
// every line that a hunk says is there.
func apply(t *testing.T, before, diff string) string {
	t.Helper()
	var after strings.Builder
	_, hunks, _ := strings.Cut(diff, "\n+++ b/x\n")
	number := 1
	take := func() string {
		line, rest, ended := strings.Cut(before, "\n")
		if before = rest; ended {
			line += "\n"
		}
		number++
		return line
	}
	lines := strings.SplitAfter(hunks, "\n")
	for i, l := range lines {
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], `\ No newline`) {
			l = strings.TrimSuffix(l, "\n")
		}
		switch {
		case strings.HasPrefix(l, "@@ -"):
			var at int
			if _, err := fmt.Sscanf(l, "@@ -%d", &at); err != nil {
				t.Fatalf("%v in %q", err, l)
			}
			for number < at {
				after.WriteString(take())
			}
		case strings.HasPrefix(l, "+"):
			after.WriteString(l[1:])
		case strings.HasPrefix(l, "-"), strings.HasPrefix(l, " "):
			have := take()
			if have != l[1:] {
				t.Fatalf("line %d is %q, the diff says %q", number-1, have, l)
			}
			if l[0] == ' ' {
				after.WriteString(have)
			}
		case l != "" && !strings.HasPrefix(l, `\ No newline`):
			t.Fatalf("%q in a diff", l)
		}
	}
	return after.String() + before
}
