package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// contents is what a project holds: contents by path, folders with a slash at their
// end.
func contents(s staging) map[string]string {
	s.t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(s.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == s.dir {
			return err
		}
		rel := strings.TrimPrefix(name, s.dir+"/")
		if d.IsDir() {
			found[rel+"/"] = ""
			return nil
		}
		b, err := os.ReadFile(name)
		found[rel] = string(b)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

// patched applies a difference in git's manner to a tree, as somebody would who
// has nothing but what was shown.
func patched(rt *rapid.T, before map[string]string, diff string) map[string]string {
	after := maps.Clone(before)
	for section := range strings.SplitSeq(diff, "diff --git a/") {
		names, rest, _ := strings.Cut(section, "\n")
		from, to, _ := strings.Cut(names, " b/")
		head, hunks, _ := strings.Cut("\n"+rest, "\n@@")
		switch {
		case to == "": // nothing but folders
		case strings.Contains(head, "\nrename from "):
			after[to] = after[from]
			delete(after, from)
		case strings.Contains(head, "\ncopy from "):
			after[to] = after[from]
		case strings.Contains(head, "\nnew file "):
			after[to] = hunked(rt, "", hunks)
		case strings.Contains(head, "\ndeleted file "):
			if left := hunked(rt, after[from], hunks); left != "" {
				rt.Fatalf("%s is deleted, and the difference leaves %q of it", from, left)
			}
			delete(after, from)
		default:
			after[to] = hunked(rt, after[from], hunks)
		}
	}
	for line := range strings.Lines(diff) {
		what, at, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " directory ")
		from, to, _ := strings.Cut(at, " to ")
		switch what {
		case "# new":
			after[at] = ""
		case "# deleted":
			delete(after, at)
		case "# rename":
			delete(after, from)
			after[to] = ""
		case "# copy":
			after[to] = ""
		}
	}
	return after
}

// hunked applies the hunks of one file, whose first "@@" is cut off.
func hunked(rt *rapid.T, before, hunks string) string {
	if hunks == "" {
		return before
	}
	old := slices.Collect(strings.Lines(before))
	var after strings.Builder
	next := 0
	lines := slices.Collect(strings.Lines("@@" + hunks + "\n"))
	for i, line := range lines {
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], `\ No newline`) {
			line = strings.TrimSuffix(line, "\n")
		}
		switch line[0] {
		case '@':
			var at, count int
			if n, _ := fmt.Sscanf(line, "@@ -%d,%d", &at, &count); n == 2 && count == 0 {
				at++
			}
			for ; next < at-1; next++ {
				after.WriteString(old[next])
			}
		case '+':
			after.WriteString(line[1:])
		case '-', ' ':
			if next >= len(old) || old[next] != line[1:] {
				rt.Fatalf("line %d is not %q in %q", next+1, line[1:], before)
			}
			if line[0] == ' ' {
				after.WriteString(old[next])
			}
			next++
		}
	}
	return after.String() + strings.Join(old[next:], "")
}
