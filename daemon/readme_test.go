package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bothyd/bothy/daemon/internal/policy"
	"github.com/bothyd/bothy/sdk"
)

// readme runs each line of README that begins with bin/bothy, as a person would
// paste it. A command may find something wrong with the machine (exit 1); one
// that is used wrongly ends with 2.
func readme(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: readme")
	}
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	ts.Check(err)
	shown := regexp.MustCompile(`(?m)^bin/(bothy .*)$`).FindAllStringSubmatch(string(text), -1)
	if len(shown) < 5 {
		ts.Fatalf("README shows %d commands", len(shown))
	}
	for _, m := range shown {
		cmd := exec.Command("sh", "-c", m[1])
		cmd.Dir = ts.Getenv("PROJECT")
		for _, name := range []string{"HOME", "XDG_RUNTIME_DIR", "BOTHY_PREFIX", "PATH", "NO_COLOR", "MODEL_URL", "BOTHY_POLICY_MODE", "BOTHY_POLICY_ALLOW_DANGEROUS"} {
			cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
		}
		out, err := cmd.CombinedOutput()
		ts.Logf("%s\n%s", m[1], out)
		if err != nil && cmd.ProcessState.ExitCode() != 1 {
			ts.Fatalf("%s: %v", m[1], err)
		}
	}
}

// TestTheTourExists keeps the walk through the files in the package's comment,
// and the links of README, to files that are there.
func TestTheTourExists(t *testing.T) {
	tour, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	files := regexp.MustCompile(`[a-z]+/[a-z_]+\.go`).FindAllString(string(tour), -1)
	if len(files) < 10 {
		t.Errorf("the tour has %d files", len(files))
	}
	for _, f := range files {
		if _, err := os.Stat(filepath.Join("internal", f)); err != nil {
			t.Errorf("doc.go: %v", err)
		}
	}
	for _, page := range []string{"README.md", "docs/development.md", "CONTRIBUTING.md"} {
		text, err := os.ReadFile(filepath.Join("..", page))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllStringSubmatch(string(text), -1) {
			if strings.HasPrefix(m[1], "//") {
				continue
			}
			if _, err := os.Stat(filepath.Join("..", filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

// TestReadmeSaysWhatIsWrittenUnasked: where nobody is asked about a write, README says so.
func TestReadmeSaysWhatIsWrittenUnasked(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	write := sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "write_file", Annotations: sdk.Annotations{Destructive: true}}, Plugin: "files", Pinned: true, Grants: []string{sdk.GrantProject}}
	for mode, says := range map[sdk.Mode]string{
		sdk.ModeRestricted: "what writes files of the project and nothing else (`--mode restricted`)", sdk.ModeWorkspace: "they run without a question, and what they did can be taken back\n(`--mode workspace`)",
		sdk.ModeInteractive: "asks about every side effect (`--mode interactive`)",
	} {
		d := policy.New(policy.Settings{View: true}).Decide(sdk.PolicyRequest{Tool: write, Arguments: []byte(`{"path":"a"}`), Project: "/p", Mode: mode, Attended: true})
		if (d.Verdict == sdk.Allow) != (mode != sdk.ModeInteractive) || !strings.Contains(string(text), says) {
			t.Errorf("%s: a write is %s, and README does not say %q", mode, d.Verdict, says)
		}
	}
}
