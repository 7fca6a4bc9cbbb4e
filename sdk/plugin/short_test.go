package plugin

import (
	"bytes"
	"encoding/json"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/conformance"
)

// shortest is how many lines a whole plugin with one tool may have.
const shortest = 12

// TestShortestPlugin: the plugin that stands in the package's comment is whole,
// formatted, short enough, and builds to one that says what it is.
func TestShortestPlugin(t *testing.T) {
	source := documented(t)
	formatted, err := format.Source(source)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.TrimSpace(formatted), bytes.TrimSpace(source)) {
		t.Errorf("gofmt writes it otherwise:\n%s", formatted)
	}
	lines := 0
	for line := range strings.Lines(string(formatted)) {
		if strings.TrimSpace(line) != "" {
			lines++
		}
	}
	if lines > shortest {
		t.Errorf("it has %d lines, and may have %d:\n%s", lines, shortest, formatted)
	}
	binary := built(t, formatted)
	m := described(t, binary)
	if m.Name != "hello" || len(m.Tools) != 1 || !strings.Contains(string(m.Tools[0].Parameters), `"who is greeted"`) {
		t.Errorf("%+v", m)
	}
	out, err := exec.Command(binary, "test", "--json", "--call").CombinedOutput()
	var r conformance.Report
	if jerr := json.Unmarshal(out, &r); err != nil || jerr != nil || r.Failed || len(r.Findings) < 15 {
		t.Errorf("its test: %v, %v\n%s", err, jerr, out)
	}
}

// documented is the first program of the package's comment.
func documented(t *testing.T) []byte {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "plugin.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for line := range strings.Lines(f.Doc.Text()) {
		code, indented := strings.CutPrefix(line, "\t")
		switch {
		case indented, source.Len() > 0 && strings.TrimSpace(line) == "":
			source.WriteString(code)
		case source.Len() > 0:
			return []byte(source.String())
		}
	}
	t.Fatal("the package's comment has no program")
	return nil
}

// built is the binary of a program.
func built(t *testing.T, source []byte) (binary string) {
	t.Helper()
	dir := t.TempDir()
	file, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "bothy-plugin-hello")
	if err := os.WriteFile(file, source, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", binary, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// described asks a binary for its manifest.
func described(t *testing.T, binary string) (m sdk.Manifest) {
	t.Helper()
	out, err := exec.Command(binary, "describe").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatal(err)
	}
	return m
}
