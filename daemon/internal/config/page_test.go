package config

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

var update = flag.Bool("update", false, "write the generated tables of docs/ anew")

// generatedTable is a part of a page that nobody writes by hand.
var generatedTable = regexp.MustCompile(`(?s)(<!-- generated: ([a-z ]+) -->\n).*?(<!-- end -->\n)`)

// TestGeneratedTables holds the tables of docs/ to what the code declares: the
// settings, and the stop reasons.
func TestGeneratedTables(t *testing.T) {
	blocks := map[string]string{}
	for _, s := range settings {
		if blocks[s.block] == "" {
			blocks[s.block] = "| attribute | default | what it is |\n|---|---|---|\n"
		}
		def := cmp.Or(s.def, "-")
		if tags := s.in(sdk.DialectTags); tags != "" {
			def += "; " + tags + " with tags"
		}
		blocks[s.block] += fmt.Sprintf("| `%s` | %s | %s |\n", s.name, def, s.doc)
	}
	generatedPage(t, "configuration.md", blocks)
	generatedPage(t, "runs.md", map[string]string{"stop reasons": stopTable()})
}

// stopTable has first the reasons whose exit code is that of the status.
func stopTable() string {
	table := "| `stop` | exit code | what ended it |\n|---|---|---|\n"
	for _, r := range sdk.StopReasons() {
		code := strconv.Itoa(r.Exit)
		if r.Exit == sdk.ExitByStatus {
			code = "by status"
		}
		table += fmt.Sprintf("| `%s` | %s | %s |\n", r.Name, code, r.Doc)
	}
	return table + fmt.Sprintf("| the name of a guard, as `max_turns` | %d | the guard |\n", sdk.ExitStopped)
}

// generatedPage fails when the tables of a page are not these, or writes them.
func generatedPage(t *testing.T, page string, tables map[string]string) {
	t.Helper()
	path := "../../../docs/" + page
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	want := generatedTable.ReplaceAllStringFunc(string(text), func(part string) string {
		m := generatedTable.FindStringSubmatch(part)
		found = append(found, m[2])
		return m[1] + tables[m[2]] + m[3]
	})
	for name := range tables {
		if !slices.Contains(found, name) {
			t.Errorf("docs/%s has no place for the table %q: write the line <!-- generated: %s --> and below it <!-- end -->", page, name, name)
		}
	}
	switch {
	case want == string(text):
	case *update:
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the tables of docs/%s are out of date; make tables writes them anew", page)
	}
}
