package match

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Diff returns the unified diff of two versions of the file at path, with three
// lines around each change, or "" when they are the same. The headers name
// a/path and b/path, as git's do.
func Diff(path, before, after string) string { return DiffFiles(path, path, before, after) }

// DiffFiles is Diff for a file that was at the path from and is at to. An empty
// path stands for no file there: what made or deleted a file, patch and git
// apply make or delete too.
func DiffFiles(from, to, before, after string) string {
	return DiffAround(from, to, before, after, udiff.DefaultContextLines)
}

// DiffAround is DiffFiles with so many lines around each change.
func DiffAround(from, to, before, after string, lines int) string {
	diff, err := udiff.ToUnified(diffName("a/", from), diffName("b/", to), before, udiff.Lines(before, after), lines)
	if err != nil {
		panic(err) // edits that were just made of the two do not fit them
	}
	return diff
}

// diffName writes a path for a diff's header the way git does: what could end
// the line or the name is quoted, and a name with a space ends at a tab.
func diffName(side, path string) string {
	if path == "" {
		return "/dev/null"
	}
	name := side + path
	if strings.IndexFunc(name, quoted) < 0 {
		if strings.Contains(name, " ") {
			name += "\t"
		}
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range name {
		switch i := strings.IndexRune("\a\b\t\n\v\f\r\"\\", r); {
		case i >= 0:
			b.WriteString(`\` + `abtnvfr"\`[i:i+1])
		case quoted(r):
			fmt.Fprintf(&b, `\%03o`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

func quoted(r rune) bool { return r < ' ' || r == 0x7f || r == '"' || r == '\\' }
