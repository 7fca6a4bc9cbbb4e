package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// TestProjectBlock: what stands in a project block holds for that project alone, also
// where its root is written through a link.
func TestProjectBlock(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "shop")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	cfg, diags := load(t, `
project "`+link+`/" {
  sandbox {
    memory    = "8GB"
    cpus      = 3
    timeout   = "9m"
    workspace = "direct"
  }
  tests {
    command = "make check"
    junit   = "build/junit.xml"
  }
}
project "/srv/other" {
}
`)
	if diags.HasErrors() {
		t.Fatal(diags.Error())
	}
	got := cfg.Sandbox.For(sdk.WithoutLinks(root))
	if got.Memory != 8<<30 || got.CPUs != 3 || got.Timeout != sdk.Duration(9*time.Minute) || got.Workspace != "direct" || got.Pids != 512 || got.Tests != (sdk.ProjectTests{Command: "make check", JUnit: "build/junit.xml"}) {
		t.Errorf("got %+v", got)
	}
	if got := cfg.Sandbox.For("/srv/other"); got.Memory != 2<<30 || got.Workspace != "project" || got.Tests != (sdk.ProjectTests{}) {
		t.Errorf("another project has %+v", got)
	}
}

// TestProjectBlockMistakes: each is told where it stands.
func TestProjectBlockMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`project "/p" { sandbox { image = "x" } }`:                                             `no attribute "image"; it has memory, cpus, pids, tmp, timeout, max_stdout, max_stderr, workspace, quota`,
		`project "/p" { sandbox { memory = "lots" } }`:                                         "is no size",
		`project "/p" { sandbox { pids = 0 } }`:                                                "must be above zero",
		`project "/p" { sandbox { timeout = "2h" } }`:                                          "at most",
		`project "/p" { sandbox { workspace = "nowhere" } }`:                                   "it may be project, direct, private",
		`project "/p" { memory = "1GB" }`:                                                      "Unsupported argument",
		`project "/p" {` + "\n sandbox {}\n sandbox {}\n}":                                     "one sandbox block",
		"project \"/p\" {\n}\nproject \"/p/\" {\n}":                                            "another project block for /p",
		`project "/p" {` + "\n tests {\n command = \"a\"\n}\n tests {\n command = \"b\"\n}\n}": "one tests block",
		`project "/p" {` + "\n tests {\n junit = \"a.xml\"\n}\n}":                              `"command" is required`,
		`project "/p" {` + "\n tests {\n command = \" \"\n}\n}":                                "command of the tests is empty",
		`project "/p" {` + "\n tests {\n command = \"a\"\n junit = \"../a.xml\"\n}\n}":         `"../a.xml" is no path in the project`,
		`project "/p" {` + "\n tests {\n command = \"a\"\n time = 3\n}\n}":                     `An argument named "time" is not expected here`,
		`project "" { sandbox { pids = 1 } }`:                                                  "root of the project",
		`project "/p" "/q" { sandbox { pids = 1 } }`:                                           "Extraneous label",
		"project \"/p\" {\n}\nproject \"/p\" {\n sandbox { pids = 2 }}":                        "stands on line",
	} {
		_, diags := load(t, strings.NewReplacer("{ sandbox {", "{\n sandbox {", "} }", "}\n}", "}}", "}\n}").Replace(text))
		if !diags.HasErrors() || !strings.Contains(diags.Error(), want) {
			t.Errorf("%s: got %s; want %q", text, diags.Error(), want)
		}
	}
}

// TestProjectDiff: a changed project block is a change.
func TestProjectDiff(t *testing.T) {
	was, _ := load(t, `project "/p" {
  sandbox { pids = 3 }
}`)
	now, _ := load(t, `project "/p" {
  sandbox { pids = 4 }
}
project "/q" {
}`)
	var told []string
	for _, c := range Diff(was, now) {
		told = append(told, c.String())
	}
	if got := strings.Join(told, "; "); got != "project /p changed; project /q added" {
		t.Errorf("got %q", got)
	}
	if same := Diff(now, now); len(same) != 0 {
		t.Errorf("the same is a change: %v", same)
	}
}
