package sandbox_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestARuntimeThatEndedIsAskedAgain: a process of the OCI runtime that was gone before there
// was a container costs no command.
func TestARuntimeThatEndedIsAskedAgain(t *testing.T) {
	needPodman(t)
	dir := shortDir(t)
	script := `#!/bin/sh
for a; do
	if [ "$a" = create ] && mkdir ` + dir + `/once 2>/dev/null; then
		echo "runc create failed: unable to start container process: can't get final child's PID from pipe: EOF" >&2
		exit 1
	fi
done
exec "$(command -v runc || command -v crun)" "$@"
`
	cfg := config(t, dir)
	cfg.Runtime = filepath.Join(dir, "runtime")
	if err := os.WriteFile(cfg.Runtime, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, open(t, cfg))
	if out := f.script("echo made"); out.err != nil || out.stdout != "made\n" {
		t.Errorf("%+v %v", out, out.err)
	}
	if _, err := os.Stat(filepath.Join(dir, "once")); err != nil {
		t.Error("the runtime was not made to fail")
	}
}
