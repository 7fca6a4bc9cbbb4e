package config

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

func TestSetListed(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		listed     bool
		want       string
		outcome    sdk.Outcome
	}{
		"there is none":        {file: "plugin \"p\" {\n}\n", text: "a", listed: true, want: "plugin \"p\" {\n  list = [\"a\"]\n}\n"},
		"on one line":          {file: "plugin \"p\" {}\n", text: "a\"${b}", listed: true, want: "plugin \"p\" {\n  list = [\"a\\\"$${b}\"]\n}\n"},
		"an empty one":         {file: "plugin \"p\" {\n  list = [] # mine\n}\n", text: "a", listed: true, want: "plugin \"p\" {\n  list = [\"a\"] # mine\n}\n"},
		"behind others":        {file: "plugin \"p\" {\n  list = [\n    \"b\", # why\n  ]\n}\n", text: "a", listed: true, want: "plugin \"p\" {\n  list = [\n    \"b\", \"a\", # why\n  ]\n}\n"},
		"it is there":          {file: "plugin \"p\" {\n  list = [\"b\", \"a\"]\n}\n", text: "a", listed: true, want: "plugin \"p\" {\n  list = [\"b\", \"a\"]\n}\n"},
		"taken from the front": {file: "plugin \"p\" {\n  list = [\"a\", \"b\"]\n}\n", text: "a", want: "plugin \"p\" {\n  list = [\"b\"]\n}\n"},
		"taken from the end":   {file: "plugin \"p\" {\n  list = [\"b\", \"a\"]\n}\n", text: "a", want: "plugin \"p\" {\n  list = [\"b\"]\n}\n"},
		"the only one":         {file: "plugin \"p\" {\n  list = [\"a\",]\n}\n", text: "a", want: "plugin \"p\" {\n  list = []\n}\n"},
		"given twice":          {file: "plugin \"p\" {\n  list = [\"a\", \"b\", \"a\"]\n}\n", text: "a", want: "plugin \"p\" {\n  list = [\"b\"]\n}\n"},
		"among comments":       {file: "plugin \"p\" {\n  list = [\n    \"b\", # of b\n    \"a\", # of a\n  ]\n}\n", text: "a", want: "plugin \"p\" {\n  list = [\n    \"b\", # of b\n     # of a\n  ]\n}\n"},
		"not there to take":    {file: "plugin \"p\" {}\n", text: "a", want: "plugin \"p\" {}\n"},
		"no such block":        {file: "plugin \"q\" {}\n", text: "a", listed: true, outcome: sdk.NotFound},
		"an expression":        {file: "plugin \"p\" {\n  list = env(\"X\")\n}\n", text: "a", listed: true, outcome: sdk.Conflict},
		"a reference":          {file: "plugin \"p\" {\n  list = [env(\"X\")]\n}\n", text: "a", listed: true, outcome: sdk.Conflict},
		"of numbers":           {file: "plugin \"p\" {\n  list = [1]\n}\n", text: "a", listed: true, outcome: sdk.Conflict},
		"a broken file":        {file: "plugin \"p\" {\n", text: "a", listed: true, outcome: sdk.Validation},
	} {
		path := filepath.Join(t.TempDir(), "config.hcl")
		if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		changed, err := SetListed(path, "plugin", "p", "list", c.text, c.listed)
		if c.want == "" {
			c.want = c.file
		}
		got := read(t, path)
		if (err != nil) != (c.outcome != "") || err != nil && sdk.OutcomeOf(err) != c.outcome || got != c.want || changed != (c.want != c.file) {
			t.Errorf("%s: %t, %v, %q", name, changed, err, got)
		}
	}
}

// TestListedAndNotAgain: whatever texts a list is given and freed of, it holds those that it was given last.
func TestListedAndNotAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.hcl")
	rapid.Check(t, func(t *rapid.T) {
		if err := os.WriteFile(path, []byte("# mine\nplugin \"p\" {\n  other = 1\n}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var want []string
		for range rapid.IntRange(1, 12).Draw(t, "edits") {
			text, listed := rapid.SampledFrom([]string{"a", "/b c", "ü\"%{d}", ""}).Draw(t, "text"), rapid.Bool().Draw(t, "listed")
			if _, err := SetListed(path, "plugin", "p", "list", text, listed); err != nil {
				t.Fatal(err)
			}
			want = slices.DeleteFunc(want, func(x string) bool { return !listed && x == text })
			if listed && !slices.Contains(want, text) {
				want = append(want, text)
			}
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		block, err := findBlock(file, path, "plugin", "p")
		if err != nil || block == nil {
			t.Fatalf("%v in %s", err, file)
		}
		if got, is := textsOf(block, "list"); !is || !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q in %s", got, want, file)
		}
	})
}
