package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestForeignClient: a client that was written with nothing but the run specification in hand, in another language, does what a client
// does: testdata/foreign/client.py says what.
func TestForeignClient(t *testing.T) {
	if _, err := exec.LookPath(python); err != nil && os.Getenv("CI") != "true" {
		t.Skip("python: install python3")
	}
	s := newSite(t, "listen {\n  web = \"127.0.0.1:0\"\n}\nagent \"shell\" {\n  model = \"steps/steps\"\n  tools = [\"sh\"]\n}\n")
	s.up()
	script, err := filepath.Abs("testdata/foreign/client.py")
	if err != nil {
		t.Fatal(err)
	}
	command := plan{Tag: "shell", Steps: 1, Tools: []string{"sh"}}.prompt()
	prompt := plan{Tag: "foreign", Steps: 1, Tools: []string{"note_line"}}.prompt()
	foreign := exec.CommandContext(t.Context(), python, script, s.status().Web, filepath.Join(s.root, "run", "bothy"), s.project, "steps/steps", prompt, command)
	out, err := foreign.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "as the specification says") {
		t.Errorf("%v\n%s", err, out)
	}
}
