package daemon

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy"
	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/bundle"
	"github.com/bothyd/bothy/daemon/internal/config"
)

// snippets are the fenced blocks of a language in a page, and the lines where
// they begin.
func snippets(t *testing.T, page, language string) map[int]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", page))
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]string{}
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllSubmatchIndex(text, -1) {
		found[1+strings.Count(string(text[:m[2]]), "\n")] = string(text[m[2]:m[3]])
	}
	if len(found) == 0 {
		t.Fatalf("%s has no block of %s", page, language)
	}
	return found
}

// imports are what a fragment of Go may name.
var imports = map[string]string{
	"context": "context", "json": "encoding/json", "time": "time", "testing": "testing", "fmt": "fmt", "os": "os",
	"errors": "errors", "io": "io", "http": "net/http",
	"sdk": "github.com/bothyd/bothy/sdk",
}

func init() {
	for _, name := range []string{"agent", "channel", "client", "hook", "host", "modelhttp", "plugin", "provider", "rpc", "sdktest", "skill", "tool", "webguard"} {
		imports[name] = "github.com/bothyd/bothy/sdk/" + name
	}
}

// whole makes a package of a fragment: what it names is imported, and what it
// takes from the page's first program is there.
func whole(text, first string) string {
	if strings.HasPrefix(text, "package ") { // compiled, and not linked
		return strings.NewReplacer("package main", "package fragment", "func main()", "func Main()").Replace(text)
	}
	if strings.Contains(text, "hello)") {
		_, first, _ = strings.Cut(first, ")\n")
		text += strings.Replace(first, "func main()", "func Main()", 1)
	}
	head := "package fragment\n\nimport (\n"
	for name, path := range imports {
		if regexp.MustCompile(`\b` + name + `\.[A-Z]`).MatchString(text) {
			head += fmt.Sprintf("\t%q\n", path)
		}
	}
	return head + ")\n\n" + text
}

// TestGuideCompiles: every piece of Go in the guide compiles in a module of
// its own, all of it in one go.
func TestGuideCompiles(t *testing.T) {
	dir := t.TempDir()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum"} { // with what the SDK's own tests need: sdktest is in the guide
		text, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if name == "go.mod" {
			text = []byte(strings.Replace(string(text), "module github.com/bothyd/bothy\n", "module example.com/guide\n", 1) +
				"\nrequire github.com/bothyd/bothy v0.0.0\n\nreplace github.com/bothyd/bothy => " + root + "\n")
		}
		write(t, filepath.Join(dir, name), string(text))
	}
	pieces := snippets(t, "docs/plugins.md", "go")
	for line, text := range snippets(t, "docs/hooks.md", "go") {
		pieces[10_000+line] = text
	}
	lines := make([]int, 0, len(pieces))
	for line := range pieces {
		lines = append(lines, line)
	}
	slices.Sort(lines)
	for _, line := range lines {
		sub := filepath.Join(dir, fmt.Sprintf("line%d", line))
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(sub, "piece.go"), whole(pieces[line], pieces[lines[0]]))
	}
	cmd := exec.Command("go", "build", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-buildvcs=false -mod=mod", "CGO_ENABLED=0", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestGuideLoads: every block of configuration in the guide is one, and the manifest of
// a bundle, too.
func TestGuideLoads(t *testing.T) {
	for line, text := range snippets(t, "docs/plugins.md", "hcl") {
		if strings.HasPrefix(text, "name ") {
			if _, err := bundle.ParseManifest([]byte(text)); err != nil {
				t.Errorf("docs/plugins.md:%d: %v", line, err)
			}
			continue
		}
		path := filepath.Join(t.TempDir(), "config.hcl")
		write(t, path, text)
		_, diags := config.Load(config.Source{
			Defaults: bothy.DefaultConfig, DefaultsName: bothy.DefaultConfigName, Path: path, Required: true,
			Getenv: func(name string) (string, bool) { return "a key", name == "NOTES_KEY" }, Secrets: &audit.Redactor{},
		})
		for _, d := range diags {
			t.Errorf("docs/plugins.md:%d: %v", line, d)
		}
	}
}

// TestGuideCommands: what the guide has people type is known to the CLI.
func TestGuideCommands(t *testing.T) {
	bothy := filepath.Join(installation(t), "bin", "bothy")
	asked := map[string]bool{}
	for line, text := range snippets(t, "docs/plugins.md", "sh") {
		for _, m := range regexp.MustCompile(`(?m)^bothy ([a-z]+(?: [a-z]+)?)`).FindAllStringSubmatch(text, -1) {
			if asked[m[1]] {
				continue
			}
			asked[m[1]] = true
			out, err := exec.Command(bothy, append(strings.Fields(m[1]), "--help")...).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "Usage: bothy "+m[1]) && !strings.Contains(string(out), "Usage: bothyd "+m[1]) {
				t.Errorf("docs/plugins.md:%d: bothy %s: %v\n%s", line, m[1], err, out)
			}
		}
	}
	if len(asked) < 5 {
		t.Errorf("the guide shows %d commands", len(asked))
	}
}

// TestProtocolPage: every method and every field of bothy.proto is named on the page
// that tells the protocol.
func TestProtocolPage(t *testing.T) {
	var texts [2]string
	for n, file := range []string{"../sdk/proto/v1/bothy.proto", "../docs/plugin-protocol.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[n] = string(text)
	}
	named := map[string]bool{}
	for _, code := range regexp.MustCompile("`[^`\n]+`").FindAllString(texts[1], -1) {
		for _, word := range regexp.MustCompile(`\w+`).FindAllString(code, -1) {
			named[word] = true
		}
	}
	found := regexp.MustCompile(`(?m)^  rpc (\w+)\(|^ +(?:repeated )?[\w<>, ]+ (\w+) = \d+;`).FindAllStringSubmatch(texts[0], -1)
	if len(found) < 100 {
		t.Fatalf("%d names were read from bothy.proto", len(found))
	}
	for _, m := range found {
		if name := m[1] + m[2]; !named[name] {
			t.Errorf("docs/plugin-protocol.md does not name %s", name)
		}
	}
}
