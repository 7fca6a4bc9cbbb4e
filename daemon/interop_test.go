//go:build interop

package daemon

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestInteropScripts runs testdata/interop/*.txtar: the whole daemon against a
// model server that is not ours, which answers at $AIMOCK.
func TestInteropScripts(t *testing.T) {
	at := aimock(t)
	prefix := installation(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "interop"),
		RequireExplicitExec: true,
		Condition:           condition,
		Setup: func(env *testscript.Env) error {
			env.Setenv("AIMOCK", at)
			return setUp(env, prefix)
		},
	})
}

// aimock starts the server that BOTHY_AIMOCK names, with the fixtures of
// testdata/interop. Who opted in to these tests wants them to run.
func aimock(t *testing.T) string {
	t.Helper()
	command := os.Getenv("BOTHY_AIMOCK")
	if command == "" {
		t.Fatal("set BOTHY_AIMOCK to the aimock command of the npm package @copilotkit/aimock 1.43.0")
	}
	fixtures, err := filepath.Abs(filepath.Join("testdata", "interop", "fixtures"))
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "config.json")
	text := `{"port":0,"host":"127.0.0.1","llm":{"fixtures":"` + fixtures + `","latency":5,"chunkSize":8}}`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(command, "--config", config)
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("BOTHY_AIMOCK names %s: %v", command, err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, at, ok := strings.Cut(lines.Text(), "listening on "); ok {
			return strings.TrimSpace(at)
		}
	}
	t.Fatal("aimock ended or took more than a minute before it listened")
	return ""
}
