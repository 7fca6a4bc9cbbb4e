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
	require(t, filepath.Dir(files[2]), module)
	cmd := exec.Command("go", "build", "-mod=mod", "-o", binary, ".")
	cmd.Dir = filepath.Dir(files[2])
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-buildvcs=false", "CGO_ENABLED=0", "GOWORK=off", "GONOSUMDB=*")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	text, err := exec.Command(binary, "describe").Output()
	var m sdk.Manifest
	if err != nil || json.Unmarshal(text, &m) != nil || !slices.Equal(m.Skills, []string{"word-count"}) {
		t.Errorf("%s %v", text, err)
	}
}

// require does to the new module what `go get` does, from what is here: it
// requires this SDK and, so that nothing has to be looked up, all that this
// repository does.
func require(t *testing.T, folder, module string) {
	t.Helper()
	own := read(t, filepath.Join(folder, "go.mod"))
	_, requirements, ok := strings.Cut(read(t, filepath.Join(module, "go.mod")), "\nrequire (")
	if !ok {
		t.Fatal("the module requires nothing")
	}
	text := own + "\nrequire github.com/bothyd/bothy v0.0.0\n\nreplace github.com/bothyd/bothy => " + module + "\n\nrequire (" + requirements
	write(t, filepath.Join(folder, "go.mod"), text)
	write(t, filepath.Join(folder, "go.sum"), read(t, filepath.Join(module, "go.sum")))
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
