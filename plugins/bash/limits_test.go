//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
)

// TestTheLimitsOfThePage: the table of limits in docs/sandbox.md has their defaults.
func TestTheLimitsOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/sandbox.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "\n| limit | default | where it holds |\n|---|---|---|\n")
	if !found {
		t.Fatal("docs/sandbox.md has no table of limits")
	}
	said := map[string]string{}
	for line := range strings.Lines(rest) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			break
		}
		said[strings.Trim(cells[1], " `")] = strings.TrimSpace(cells[2])
	}
	gb := func(bytes int64) string { return fmt.Sprintf("%d GB", bytes>>30) }
	configured := func(field string) string { // as the configuration has it, before anybody sets it
		f, _ := reflect.TypeFor[sdk.Sandbox]().FieldByName(field)
		return strings.Replace(f.Tag.Get("default"), "GB", " GB", 1)
	}
	own := sandbox.Limits{}.WithDefaults()
	half := "other"
	if own.CPUs == max(1, float64(runtime.NumCPU())/2) {
		half = "half of them"
	}
	want := map[string]string{
		"memory": gb(own.Memory), "cpus": half, "pids": fmt.Sprint(own.Pids),
		"time of a command": fmt.Sprintf("%d s, at most %d min", sandbox.DefaultTimeout/time.Second, sandbox.MaxTimeout/time.Minute),
		"output":            fmt.Sprintf("%d MB and %d MB of errors, the rest is counted and dropped", sandbox.DefaultStdoutCap>>20, sandbox.DefaultStderrCap>>20),
		"one file":          gb(own.FileSize), "open files": fmt.Sprintf("%d of each process", own.OpenFiles), "quota": gb(own.Quota),
	}
	if !reflect.DeepEqual(said, want) {
		t.Errorf("the page says %v, want %v", said, want)
	}
	if configured("Memory") != want["memory"] || configured("Pids") != want["pids"] || configured("Quota") != want["quota"] {
		t.Errorf("the configuration has %s, %s and %s", configured("Memory"), configured("Pids"), configured("Quota"))
	}
}

// TestRenameOfAFolder: in a view a folder that was there before is not renamed in one
// step. mv copies it, git checkout, stash and rebase need no such thing, and where a
// program fails the result says what to do.
func TestRenameOfAFolder(t *testing.T) {
	needPodman(t)
	r := newRig(t, nil)
	const setUp = `set -e; git init -q -b main .; export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e
mkdir d x; echo 1 >d/f; echo 1 >x/f; echo 1 >keep; git add -A; git commit -qm one; git checkout -qb topic; mkdir e; git mv d/f e/f; git commit -qm two; git checkout -q main; echo 2 >keep; git commit -qam three`
	const hint = "cannot be renamed in one step here: use mv"
	for _, c := range []struct {
		script string
		fails  bool
	}{
		{setUp, false},
		{`mv x y && test ! -e x && cat y/f && mv y x`, false},
		{`git checkout -q topic && test ! -e d && cat e/f`, false},
		{`echo 3 >keep && git stash -q && cat keep && git stash pop -q && git checkout -q keep`, false},
		{`git -c user.name=n -c user.email=e rebase -q main && cat e/f keep`, false},
		{`git mv x y`, true},
		{`python3 -c 'import os; os.rename("x", "y")' || perl -e 'rename("x", "y") or die $!'`, true},
	} {
		got, _, err := r.call(fmt.Sprintf(`{"command":%s}`, must(json.Marshal(c.script))))
		if err != nil {
			t.Fatal(err)
		}
		if got.Success == c.fails || strings.Contains(got.Output, hint) != c.fails {
			t.Errorf("%s: %+v", c.script, got)
		}
	}
}

// TestLimitsOfAProject: a project has what its block says, a private run has little and
// nothing of the project, and the first result of each says so.
func TestLimitsOfAProject(t *testing.T) {
	needPodman(t)
	var project string
	r := newRig(t, func(s *sdk.Settings) {
		project = filepath.Join(filepath.Dir(s.DataDir), "project")
		s.Sandbox.Projects = []sdk.ProjectSandbox{{Root: project, Set: sdk.Sandbox{Pids: 77, Tmp: 8 << 20, Timeout: sdk.Duration(3 * time.Second)}}}
	})
	if err := os.WriteFile(filepath.Join(project, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const look = `{"command":"ulimit -u; df -m --output=size /tmp | tail -1; ls"}`
	got, _, err := r.call(look)
	if err != nil || !got.Success {
		t.Fatal(got, err)
	}
	for _, want := range []string{"77\n", "  8\n", "mine\n", "[this run has limits of its own: 2 GB of memory, ", "77 processes and threads, 8 MB in /tmp; 3s for a command that asks for no other time]\n"} {
		if !strings.Contains(got.Output, want) {
			t.Errorf("%q is not in %q", want, got.Output)
		}
	}
	if got, _, err = r.call(look); err != nil || strings.Contains(got.Output, "limits of its own") {
		t.Errorf("it is told twice: %q, %v", got.Output, err)
	}
	if got, _, err = r.call(`{"command":"sleep 9"}`); err != nil || got.Outcome != sdk.Timeout {
		t.Errorf("got %+v, %v", got, err)
	}
	private, err := r.b.tools().Invoke(t.Context(), sdk.Invocation{Tool: "bash", Arguments: json.RawMessage(look), Run: "run-2", RunDir: filepath.Join(r.runDir, "2")},
		&stream{chunks: make(map[int]string)})
	if err != nil || !strings.HasPrefix(private.Output, "128\n") || strings.Contains(private.Output, "mine") ||
		!strings.Contains(private.Output, "512 MB of memory, 1 processor, 128 processes and threads, 64 MB in /tmp; 2m0s for") {
		t.Errorf("a private run: %q, %v", private.Output, err)
	}
}
