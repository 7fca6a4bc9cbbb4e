//go:build linux

package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sandbox"
)

// abuse is one thing that a command tries, by the number that ADR 28 gives it.
// Attack, check and after are ways to see that it worked: attack exits with 0,
// after (the run's next command) does, or check complains.
type abuse struct {
	row  int
	name string
	// attack is a script; refused is in what it prints, so that it failed for
	// the right reason.
	attack, refused string
	timeout         time.Duration
	after           string
	check           func(t *testing.T, f *fixture, out outcome)
	// control is the harmless neighbour, which must exit with 0: a wall that
	// nothing can live behind is none.
	control string
}

// rows are how many kinds of abuse there are.
const rows = 37

func abuses() []abuse {
	return slices.Concat(fileAbuses(), kernelAbuses(), networkAbuses(), processAbuses())
}

// attackBinary builds the program that makes system calls, without a library.
func attackBinary(t testing.TB) string {
	t.Helper()
	rig.Lock()
	defer rig.Unlock()
	path := filepath.Join(rig.dir, "attack")
	if _, err := os.Stat(path); err != nil {
		build(t, "./testdata/attack", path)
	}
	return path
}

func (f *fixture) copyIn(from, name string) {
	f.t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(f.path(name), data, 0o755); err != nil {
		f.t.Fatal(err)
	}
}

func TestAbuse(t *testing.T) {
	f := newFixture(t, shared(t))
	f.copyIn(attackBinary(t), "attack")
	hostSecrets(t, f)
	f.ok("touch /tmp/alive")
	for _, row := range abuses() {
		t.Run(fmt.Sprintf("%02d_%s", row.row, strings.ReplaceAll(row.name, " ", "_")), func(t *testing.T) {
			f.t = t
			f.try(t, row)
			// Whatever it did, the runner lives and nothing is left of it.
			if left := f.ok("test -e /tmp/alive && echo alive; ps -e -o comm= | grep -vxE 'bash|ps|grep|runner'; touch /tmp/alive"); left != "alive" {
				t.Errorf("left behind: %s", left)
			}
		})
	}
}

func (f *fixture) try(t *testing.T, row abuse) {
	if row.control == "" {
		t.Error("there is no control")
	}
	timeout := row.timeout
	if timeout == 0 {
		timeout = time.Minute
	}
	out := f.exec(t.Context(), sandbox.Command{Argv: []string{"bash", "-c", row.attack}, Timeout: timeout})
	all := out.stdout + out.stderr
	switch {
	case out.err != nil:
		t.Fatalf("the sandbox failed: %v", out.err)
	case out.ExitCode == 0:
		t.Errorf("the attack worked:\n%.2000s", all)
	case out.ExitCode == 127 || strings.Contains(all, "untried") || strings.Contains(all, "no such attack"):
		t.Errorf("the attack was not made (exit %d):\n%.2000s", out.ExitCode, all)
	case !strings.Contains(all, row.refused):
		t.Errorf("refused for another reason than %q (exit %d):\n%.2000s", row.refused, out.ExitCode, all)
	}
	if len(out.Violations) != 0 {
		t.Errorf("violations: %+v", out.Violations)
	}
	if row.check != nil {
		row.check(t, f, out)
	}
	if row.after != "" {
		if after := f.bash(row.after); after.ExitCode == 0 {
			t.Errorf("the attack worked in what came after it: %s%s", after.stdout, after.stderr)
		}
	}
	if control := f.bash(row.control); control.ExitCode != 0 {
		t.Errorf("the harmless neighbour does not work: exit %d %s\n%.2000s%.2000s", control.ExitCode, control.Signal, control.stdout, control.stderr)
	}
}

func TestEveryRowOfAbuseIsTried(t *testing.T) {
	for n := 1; n <= rows; n++ {
		if !slices.ContainsFunc(abuses(), func(a abuse) bool { return a.row == n && a.attack != "" && a.control != "" }) {
			t.Errorf("row %d has no attack with a control", n)
		}
	}
}

// TestDecisionListsTheAttacks: ADR 28 has the numbers of the rows that are tried, and no
// others.
func TestDecisionListsTheAttacks(t *testing.T) {
	pages, err := filepath.Glob("../docs/decisions/0028-*.md")
	if err != nil || len(pages) != 1 {
		t.Fatal(pages, err)
	}
	page, err := os.ReadFile(pages[0])
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		if _, list, found := strings.Cut(line, "_test.go` | "); found {
			for part := range strings.SplitSeq(list, "; ") {
				number, _, _ := strings.Cut(part, " ")
				listed[number] = true
			}
		}
	}
	for _, a := range abuses() {
		if !listed[fmt.Sprint(a.row)] {
			t.Errorf("ADR 28 lists no row %d (%s)", a.row, a.name)
		}
	}
	if len(listed) != rows {
		t.Errorf("ADR 28 lists %d rows, and %d are tried", len(listed), rows)
	}
}
