package match

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func paths(t interface{ Fatal(...any) }, globs ...string) Paths {
	p, err := ParsePaths(globs)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPathsOverlap(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"src/**", "src", true},
		{"src/**", "src/a/b.go", true},
		{"src/**", "docs/**", false},
		{"src/*.go", "src/*.md", false},
		{"src/*.go", "src/a*", true},
		{"**/*.go", "docs/**", true},
		{"**/*.go", "docs/*.md", false},
		{"a?c", "abd", false},
		{"a?c", "A*", true},
		{"{a,b}/x", "b/y", true}, // more than there is
		{"a/[b-d]/x", "a/c/x", true},
		{"a/b", "a/b/c", false},
		{"**", "x", true},
	} {
		a, b := paths(t, c.a), paths(t, c.b)
		if got := a.Overlap(b); got != c.want || b.Overlap(a) != got {
			t.Errorf("%s and %s overlap: %t", c.a, c.b, got)
		}
	}
}

func TestPathsOfFolders(t *testing.T) {
	for _, c := range []struct {
		glob, dir      string
		has, all, some bool
	}{
		{"src/**", "src", true, true, true},
		{"src/**", "src/a/b", true, true, true},
		{"src/*", "src/a", true, false, false},
		{"src/*.go", "src", false, false, true},
		{"src/**/*.go", "src/a", false, false, true},
		{"*/gen/**", "a/gen/b", true, true, true},
		{"**", "a", true, true, true},
		{"docs/**", "src", false, false, false},
	} {
		p := paths(t, c.glob)
		if p.Has(c.dir) != c.has || p.HasAll(c.dir) != c.all || p.MayHaveBelow(c.dir) != c.some {
			t.Errorf("%s of %s: has %t, all %t, some %t", c.glob, c.dir, p.Has(c.dir), p.HasAll(c.dir), p.MayHaveBelow(c.dir))
		}
	}
	for _, c := range []struct{ inner, outer, want string }{
		{"src/a/*.go", "src/**", ""},
		{"src/**", "src/**", ""},
		{"**", "src/**", "**"},
		{"srcs/a", "src/**", "srcs/a"},
		{"*/a", "s*/**", "*/a"},
		{"a/*.go", "a/*", "a/*.go"}, // it cannot tell
	} {
		if got := paths(t, c.inner).Outside(paths(t, c.outer)); got != c.want {
			t.Errorf("of %s %q is outside of %s", c.inner, got, c.outer)
		}
	}
}

// TestPathsProperties: what both have is an overlap, what is said of folders holds for what is in them, and what is
// not outside lies inside.
func TestPathsProperties(t *testing.T) {
	name := rapid.StringOfN(rapid.RuneFrom([]rune("abA.")), 1, 3, -1)
	part := rapid.OneOf(name, rapid.StringMatching(`[ab.*?]{1,3}`), rapid.SampledFrom([]string{"**", "*", "{a,b}", "{a,b/a}", "[ab]", "[!a]*", `\a`, "a[/]b"}))
	glob := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "parts"), "/") })
	rapid.Check(t, func(t *rapid.T) {
		parse := func(label string) Paths {
			g, err := ParseGlob(glob.Draw(t, label))
			if err != nil {
				t.Skip(err)
			}
			return Paths{g}
		}
		a, b := parse("a"), parse("b")
		names := rapid.SliceOfN(name, 1, 4).Draw(t, "path")
		at := strings.Join(names, "/")
		if a.Has(at) && b.Has(at) && !a.Overlap(b) {
			t.Fatalf("%s and %s both have %s", a, b, at)
		}
		if a.Has(at) && a.Outside(b) == "" && !b.Has(at) {
			t.Fatalf("%s is inside of %s, which has no %s", a, b, at)
		}
		for i := 1; i < len(names); i++ {
			dir := strings.Join(names[:i], "/")
			if a.HasAll(dir) && !a.Has(at) || a.Has(at) && !a.MayHaveBelow(dir) {
				t.Fatalf("%s of the folder %s, in which is %s", a, dir, at)
			}
		}
	})
}
