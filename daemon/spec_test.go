package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSpecAnchors: each anchor of docs/spec-anchors.txt has a test that names it, or says what it waits for.
func TestSpecAnchors(t *testing.T) {
	said, err := exec.Command(filepath.Join(repositoryRoot(t), "scripts", "spec")).CombinedOutput()
	if err != nil {
		t.Errorf("%v:\n%s", err, said)
	}
}

// TestSpecFinds keeps the script itself honest.
func TestSpecFinds(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(repositoryRoot(t), "scripts", "spec"))
	if err != nil {
		t.Fatal(err)
	}
	const held = "// TestX holds it.\n// spec: one two\nfunc TestX(t *testing.T) {}\n"
	for name, c := range map[string]struct {
		anchors, test, script string
		says                  string // empty: all is well
	}{
		"all are held":        {anchors: "one  a thing\ntwo  another\n", test: held},
		"by a script":         {anchors: "one  a thing\n", script: "# spec: one\n"},
		"excused":             {anchors: "one  a thing\ntwo  another\nthree  a third; in progress: the rest\n", test: held},
		"one is not":          {anchors: "one  a thing\ntwo  another\nthree  a third\n", test: held, says: "three: no test names it"},
		"none is":             {anchors: "one  a thing\n", says: "one: no test names it"},
		"an excuse too many":  {anchors: "one  a thing; in progress: it\ntwo  another\n", test: held, says: "one: a test names it"},
		"an empty excuse":     {anchors: "one  a thing; in progress: \n", says: "one: no test names it"},
		"another name":        {anchors: "one  a thing\n", test: held, says: "two is no anchor"},
		"twice":               {anchors: "one  a thing\ntwo  another\none  again\n", test: held, says: "one stands there twice"},
		"a comment elsewhere": {anchors: "one  a thing\n", test: "// spec: one\nfunc help() {}\n", says: "is that of no test"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for file, text := range map[string]string{
				"scripts/spec": string(script), "docs/spec-anchors.txt": "# Anchors.\n\n" + c.anchors,
				"daemon/x_test.go": "package x\n\n" + c.test, "daemon/testdata/script/x.txtar": c.script,
			} {
				at := filepath.Join(root, file)
				if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			said, err := exec.Command(filepath.Join(root, "scripts", "spec")).CombinedOutput()
			if (err == nil) != (c.says == "") || !strings.Contains(string(said), c.says) {
				t.Errorf("%v:\n%s", err, said)
			}
		})
	}
}
