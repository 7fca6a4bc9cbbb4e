package skill

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// inChild names what a child of the test binary is to do.
const inChild = "BOTHY_SKILL_TEST_CHILD"

// alone runs the test that calls it in a process of its own, which begins as
// attributes say. It reports true in there.
func alone(t *testing.T, attr *syscall.SysProcAttr, impossible string) bool {
	t.Helper()
	if os.Getenv(inChild) == t.Name() {
		return true
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(exe, "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=60s")
	child.Env = append(os.Environ(), inChild+"="+t.Name())
	child.SysProcAttr = attr
	out, err := child.CombinedOutput()
	if _, ran := err.(*exec.ExitError); err != nil && !ran && impossible != "" {
		t.Skipf("%s: %v", impossible, err)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if strings.Contains(string(out), "--- SKIP") {
		t.Skipf("the child could not do it:\n%s", out)
	}
	if !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("the child did not run the test:\n%s", out)
	}
	return false
}
