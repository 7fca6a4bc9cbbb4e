//go:build linux

package sandbox_test

import (
	"testing"
	"time"

	"github.com/bothyd/bothy/sandbox"
)

const mb = 1 << 20

func TestQuota(t *testing.T) {
	f := newFixture(t, shared(t))
	f.run.Limits = &sandbox.Limits{Quota: 8 * mb}
	run := func(script string) outcome {
		t.Helper()
		out := f.exec(t.Context(), sandbox.Command{Argv: []string{"bash", "-c", script}, Timeout: time.Minute})
		if out.err != nil {
			t.Fatal(out.err)
		}
		return out
	}
	if out := run("head -c 4M /dev/zero >~/a; head -c 20M /dev/zero >/workspace/theirs"); out.Overflow != nil || out.ExitCode != 0 {
		t.Fatalf("within the quota, for a project does not count: %+v", out.Result)
	}
	// The folder is closed to its owner, and hides nothing all the same.
	out := run("mkdir ~/closed; head -c 20M /dev/zero >~/closed/b; chmod 0 ~/closed; echo made; sleep 60")
	if o := out.Overflow; o == nil || !o.Killed || o.Disk || o.Used < 24*mb || o.Quota != 8*mb || out.stdout != "made\n" {
		t.Fatalf("a long command: %+v %+v", out.Result, out.Overflow)
	}
	if out := run("echo on; ls ~ >/dev/null"); out.Overflow != nil || out.ExitCode != 0 {
		t.Errorf("a command that adds nothing: %+v", out.Result)
	}
	if out := run("head -c 6M /dev/zero >~/c"); out.Overflow == nil || out.Overflow.Killed || out.ExitCode != 0 {
		t.Errorf("a short command that adds to it: %+v", out.Result)
	}
	if out := run("chmod 700 ~/closed; rm -rf ~/closed ~/c"); out.Overflow != nil || out.ExitCode != 0 {
		t.Errorf("a command that removes: %+v %s", out.Result, out.stderr)
	}
	if out := run("head -c 2M /dev/zero >~/d; sleep 1.2"); out.Overflow != nil || out.ExitCode != 0 {
		t.Errorf("within the quota again: %+v", out.Result)
	}
}

func TestQuotaCountsAPrivateWorkspace(t *testing.T) {
	f := newFixture(t, shared(t))
	f.run.Project = ""
	f.run.Limits = &sandbox.Limits{Quota: 4 * mb}
	if out := f.bash("head -c 6M /dev/zero >/workspace/a"); out.Overflow == nil {
		t.Fatalf("got %+v", out.Result)
	}
	if err := f.manager.Reset(t.Context(), f.run); err != nil {
		t.Fatal(err)
	}
	if out := f.bash("echo x >a"); out.Overflow != nil {
		t.Fatalf("after a reset: %+v", out.Overflow)
	}
	f.run.Limits.Quota = -1
	if out := f.bash("head -c 6M /dev/zero >/workspace/a"); out.Overflow != nil {
		t.Fatalf("without a quota: %+v", out.Overflow)
	}
}
