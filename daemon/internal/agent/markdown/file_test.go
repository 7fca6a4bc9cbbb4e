package markdown

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
	"github.com/bothyd/bothy/sdk"
)

var update = flag.Bool("update", false, "write what the files are read as")

// TestPublicFiles reads files in the habits of public collections, and some that nobody can
// read: each is an agent with what it asks for, or is refused with its reason.
func TestPublicFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/public/*.md")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	var got strings.Builder
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		x := Parse(text, path)
		checkFile(t, x)
		fmt.Fprintf(&got, "%s\n%s\n", filepath.Base(path), readAs(x))
	}
	const golden = "testdata/public.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		at := 0
		g, w := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
		for at < min(len(g), len(w)) && g[at] == w[at] {
			at++
		}
		t.Errorf("line %d of %s (-args -update writes it anew):\n%s", at+1, golden, strings.Join(g[at:min(at+5, len(g))], "\n"))
	}
}

// readAs is what a file asks for, and what is odd about it.
func readAs(x *File) string {
	var b strings.Builder
	a := x.Agent
	state := "read"
	switch {
	case !x.Loaded:
		state = "refused"
	case x.Off:
		state = "off"
	}
	fmt.Fprintf(&b, "  %s: %s\n", state, a.Name)
	line := func(what string, value any, said bool) {
		if said && x.Loaded {
			fmt.Fprintf(&b, "  %s: %v\n", what, value)
		}
	}
	line("tools", a.Tools, a.Tools != nil)
	line("without", a.Without, a.Without != nil)
	line("models", x.Models, x.Models != nil)
	line("mode", a.Mode, a.Mode != "")
	line("mcp", a.MCP, a.MCP != nil)
	line("agents", a.Agents, a.Agents != nil)
	line("skills", a.Skills, a.Skills != nil)
	line("capabilities", a.Capabilities, a.Capabilities != nil)
	if a.Temperature != nil {
		line("temperature", *a.Temperature, true)
	}
	line("reasoning", a.Reasoning, a.Reasoning != "")
	line("guards", fmt.Sprintf("%d turns, %v", a.Guards.MaxTurns, time.Duration(a.Guards.Deadline)), a.Guards != sdk.Guards{})
	if a.Finish != nil {
		line("finish", fmt.Sprintf("%s proves %v", a.Finish.Schema, a.Finish.Prove), true)
	}
	for _, d := range x.Diagnostics {
		fmt.Fprintf(&b, "  %d:%d %s %s: %s\n", d.Line, d.Column, d.Severity, d.Code, d.Message)
	}
	return b.String()
}

// checkFile holds what is true of every file.
func checkFile(t interface {
	Helper()
	Fatalf(string, ...any)
}, x *File) {
	t.Helper()
	a := x.Agent
	if a.Name == "" || nameOf(a.Name) != a.Name || len(a.Name) > maxName {
		t.Fatalf("the name %q cannot be used", a.Name)
	}
	if x.Loaded && (a.Description == "" || strings.ContainsAny(a.Description, "\n\r\t\x00\x1b\u202e")) {
		t.Fatalf("loaded with the description %q", a.Description)
	}
	if a.Model != "" || len(a.Excluded) > 0 || len(a.Lent) > 0 {
		t.Fatalf("the file gives what is not its own: %+v", a)
	}
	if x.Loaded && slices.ContainsFunc(x.Diagnostics, frontmatter.IsError) || !x.Loaded && !slices.ContainsFunc(x.Diagnostics, frontmatter.IsError) {
		t.Fatalf("loaded %v, and %+v", x.Loaded, x.Diagnostics)
	}
	for _, d := range x.Diagnostics {
		if d.Line < 1 || d.Column < 1 || d.Code == "" || d.Message == "" || d.Help == "" || strings.ContainsFunc(d.Message, sdk.Hidden) {
			t.Fatalf("a diagnostic without a place or without help: %+v", d)
		}
	}
	if a.Mode != "" && !a.Mode.Valid() || a.Guards.MaxTurns < 0 || a.Guards.Deadline < 0 || a.Guards.MaxCost < 0 {
		t.Fatalf("the mode %q, the guards %+v", a.Mode, a.Guards)
	}
}

// FuzzParse holds what is true of every file to any bytes.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/public/*.md")
	for _, path := range files {
		if text, err := os.ReadFile(path); err == nil {
			f.Add(text, path)
		}
	}
	f.Add([]byte("---\nname: a\ndescription: d\ntools: {a: {b: c}, '*': no}\npermission: [x]\nmcp: {x: {}}\nfinish: {schema: '{}', prove: {a: b}}\n---\n"), "/x/.md")
	f.Fuzz(func(t *testing.T, text []byte, path string) { checkFile(t, Parse(text, path)) })
}
