package modelhttp

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRows holds testdata/rows.txt and the golden files of all providers to each
// other: each row has a file, each file a row and a first line with its source.
func TestRows(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "rows.txt"))
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join("..", "..")
	proves := map[string]bool{}
	for row, files := range readRows(t, string(raw)) {
		for _, file := range files {
			proves[file] = true
			if !hasSource(filepath.Join(root, file)) {
				t.Errorf("%s: %s is not there, or its first line does not say where it comes from", row, file)
			}
		}
	}
	for _, pattern := range []string{"plugins/*/testdata/*.sse", "plugins/*/testdata/*.ndjson", "sdk/modelhttp/testdata/*/*.http"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Errorf("%s: %v, error %v", pattern, files, err)
		}
		for _, file := range files {
			file, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			if !proves[filepath.ToSlash(file)] {
				t.Errorf("%s proves no row of rows.txt", file)
			}
		}
	}
}

var rowKinds = []string{"quirk", "stream", "overflow", "retry"}

// readRows reads lines "kind | row | file, file".
func readRows(t *testing.T, text string) map[string][]string {
	t.Helper()
	rows := map[string][]string{}
	kinds := map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		kind, rest, _ := strings.Cut(line, " | ")
		name, list, ok := strings.Cut(rest, " | ")
		row := kind + ": " + name
		switch {
		case !ok || strings.TrimSpace(list) == "":
			t.Errorf("the row %q has no file", line)
		case !slices.Contains(rowKinds, kind) || name == "":
			t.Errorf("the row %q is of no kind, or has no name", line)
		case rows[row] != nil:
			t.Errorf("the row %q is there twice", row)
		}
		kinds[kind] = true
		rows[row] = strings.Split(list, ", ")
	}
	if len(kinds) != len(rowKinds) {
		t.Errorf("rows of the kinds %v, want %v", kinds, rowKinds)
	}
	return rows
}

// hasSource reports whether a golden file begins with a comment of some words.
func hasSource(path string) bool {
	raw, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	first, _, _ := bytes.Cut(raw, []byte("\n"))
	source, ok := strings.CutPrefix(string(first), "# ")
	if filepath.Ext(path) == ".sse" {
		source, ok = strings.CutPrefix(string(first), ": ")
	}
	return ok && len(strings.TrimSpace(source)) > 2
}
