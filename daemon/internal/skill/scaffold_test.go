package skill

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestScaffoldBuilds: what `skills create --code` makes builds without a change
// against this SDK, and serves the skill of its name.
func TestScaffoldBuilds(t *testing.T) {
	root := t.TempDir()
	files, err := Create(root, New{Name: "word-count", Code: true, Description: "Counts: \"words\"."})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		rel, err := filepath.Rel(root, f)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.ToSlash(rel))
	}
	if want := []string{"word-count/SKILL.md", "word-count/plugin/go.mod", "word-count/plugin/main.go"}; !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
	source, err := os.ReadFile(files[2])
	if err != nil || strings.Contains(string(source), "{{") || !strings.Contains(string(source), "plugins/bothy-plugin-word-count") {
		t.Errorf("%v:\n%s", err, source)
	}
	module, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "bothy-plugin-word-count")
	for _, args := range [][]string{
		{"go", "mod", "edit", "-require=github.com/bothyd/bothy@v0.0.0", "-replace=github.com/bothyd/bothy=" + module},
		{"go", "build", "-mod=mod", "-o", binary, "."},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = filepath.Dir(files[2])
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-buildvcs=false", "CGO_ENABLED=0", "GOWORK=off", "GONOSUMDB=*")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, text)
		}
	}
	text, err := exec.Command(binary, "describe").Output()
	var m sdk.Manifest
	if err != nil || json.Unmarshal(text, &m) != nil || !slices.Equal(m.Skills, []string{"word-count"}) {
		t.Errorf("%s %v", text, err)
	}
}
