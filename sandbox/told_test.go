package sandbox

import (
	"bytes"
	"encoding/json"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
)

// TestWhatIsNotAppliedIsLogged: the log names the paths that were refused, or that
// somebody else changed, and where the command's version is kept; and what Podman warns
// of, once.
func TestWhatIsNotAppliedIsLogged(t *testing.T) {
	var log bytes.Buffer
	m := &Manager{logger: hclog.New(&hclog.LoggerOptions{Output: &log})}
	s := &session{manager: m, run: "r"}
	s.report(Result{
		Violations: []Violation{{Path: "one", Action: ActionRefused, Kept: "/kept/one"}},
		Conflicts:  []Conflict{{Path: "two", Kept: "/kept/two"}},
	})
	m.warn([]string{"no limits here"})
	m.warn([]string{"no limits here"})
	for _, want := range []string{"path=one", "kept=/kept/one", "path=two", "kept=/kept/two", "run=r", "no limits here"} {
		if strings.Count(log.String(), want) < 1 || want == "no limits here" && strings.Count(log.String(), want) != 1 {
			t.Errorf("of %s the log has %s", want, log.String())
		}
	}
}

// TestSeccompPageNamesWhatIsRefused: no rule of the profile allows a call that
// seccomp.md names as refused, whatever its arguments.
func TestSeccompPageNamesWhatIsRefused(t *testing.T) {
	page, err := os.ReadFile("seccomp.md")
	if err != nil {
		t.Fatal(err)
	}
	var refused []string
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, "|"); len(cells) == 4 {
			for _, m := range regexp.MustCompile("`([a-z0-9_*]+)`").FindAllStringSubmatch(cells[1], -1) {
				refused = append(refused, m[1])
			}
		}
	}
	if len(refused) < 30 {
		t.Fatalf("seccomp.md refuses %q", refused)
	}
	var profile struct {
		Syscalls []struct {
			Names  []string `json:"names"`
			Action string   `json:"action"`
			Args   []any    `json:"args"`
		} `json:"syscalls"`
	}
	if err := json.Unmarshal(seccompProfile, &profile); err != nil {
		t.Fatal(err)
	}
	for _, rule := range profile.Syscalls {
		for _, name := range rule.Names {
			for _, pattern := range refused {
				if match, err := path.Match(pattern, name); err != nil || match && rule.Action == "SCMP_ACT_ALLOW" && len(rule.Args) == 0 {
					t.Errorf("%s is allowed, and seccomp.md refuses %s (%v)", name, pattern, err)
				}
			}
		}
	}
}
