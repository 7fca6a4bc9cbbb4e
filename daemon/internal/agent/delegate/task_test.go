package delegate

import (
	"slices"
	"testing"
)

// TestWithin: a task writes no more than the run may that asks for it.
func TestWithin(t *testing.T) {
	for _, c := range []struct {
		name            string
		asks, may, want []string
		refused         bool
	}{
		{"all of all", nil, nil, nil, false},
		{"some of all", []string{"src/**"}, nil, []string{"src/**"}, false},
		{"what the other may", nil, []string{"src/**"}, []string{"src/**"}, false},
		{"less", []string{"src/a/*.go"}, []string{"docs/**", "src/**"}, []string{"src/a/*.go"}, false},
		{"nothing", []string{}, []string{"src/**"}, []string{}, false},
		{"more", []string{"src/a", "docs/**"}, []string{"src/**"}, nil, true},
		{"of one that only reads", []string{"a"}, []string{}, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Task{Writes: c.asks}.Within(c.may)
			if (err != nil) != c.refused {
				t.Fatal(err)
			}
			if err == nil && (!slices.Equal(got.Writes, c.want) || (got.Writes == nil) != (c.want == nil)) {
				t.Errorf("%v", got.Writes)
			}
		})
	}
}

// TestWritesAreRead: globs are taken as paths are written, and stay in the project.
func TestWritesAreRead(t *testing.T) {
	for asks, want := range map[string]string{
		"src/**": "src/**", "./src/*.go": "src/*.go", "src/": "src/**", "./": "**", "src/../docs/*": "docs/*", "..src/a": "..src/a",
		"x{a/../b,c}": "", "..": "", "a/../..": "",
		"/etc/**": "", "../a": "", "src/../../a": "", "a[": "", "": "",
	} {
		got, err := Read([]byte(`{"task":"x","agent":"a","writes":["` + asks + `"]}`))
		if (err != nil) != (want == "") || err == nil && got.Writes[0] != want {
			t.Errorf("%q is read as %q, %v", asks, got.Writes, err)
		}
	}
}

// TestFolders: the name of a folder means what is in it, and no list stays none.
func TestFolders(t *testing.T) {
	for _, c := range []struct{ asks, want []string }{
		{nil, nil}, {[]string{}, []string{}}, {[]string{"src", "src/a.go", "s*", "src/**"}, []string{"src/**", "src/a.go", "s*", "src/**"}},
	} {
		given := slices.Clone(c.asks)
		got := Task{Writes: c.asks}.Folders(func(path string) bool { return path == "src" || path == "s*" })
		if !slices.Equal(got.Writes, c.want) || (got.Writes == nil) != (c.want == nil) || !slices.Equal(c.asks, given) {
			t.Errorf("%q means %q, and is %q", given, got.Writes, c.asks)
		}
	}
}

// TestBeside: who writes works beside others on a copy, and not where both were given the same.
func TestBeside(t *testing.T) {
	for _, c := range []struct {
		name         string
		a, b         []string
		copies, want bool
	}{
		{"anything on copies", nil, nil, true, true},
		{"anything in one place", nil, nil, false, false},
		{"apart in one place", []string{"a"}, []string{"b"}, false, false},
		{"a reader in one place", []string{}, nil, false, true},
		{"apart on copies", []string{"a/**"}, []string{"b/**", "c"}, true, true},
		{"the same on copies", []string{"a/**", "x"}, []string{"b/**", "a/*.go"}, true, false},
		{"some and anything on copies", []string{"a/**"}, nil, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := Task{Writes: c.a}, Task{Writes: c.b}
			if a.Beside(b, c.copies) != c.want || b.Beside(a, c.copies) != c.want {
				t.Errorf("want %t", c.want)
			}
		})
	}
}
