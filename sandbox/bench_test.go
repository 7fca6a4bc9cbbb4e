//go:build linux

package sandbox_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bothyd/bothy/sandbox"
)

// The three ways to run a command whose ratios matter: the host itself, the
// runner, and podman exec in the same container.

func BenchmarkHostExec(b *testing.B) {
	for b.Loop() {
		if err := exec.Command("bash", "-c", "true").Run(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRunnerExec(b *testing.B) {
	f := newFixture(b, shared(b))
	f.ok("true")
	command := sandbox.Command{Argv: []string{"bash", "-c", "true"}}
	for b.Loop() {
		if r, err := f.manager.Exec(b.Context(), f.run, command, nil); err != nil || r.ExitCode != 0 {
			b.Fatal(r, err)
		}
	}
}

func BenchmarkPodmanExec(b *testing.B) {
	f := newFixture(b, shared(b))
	f.ok("true")
	podman := func(args ...string) string {
		out, err := exec.Command("podman", append([]string{"--url", "unix://" + filepath.Join(rig.dir, "d", "podman.sock")}, args...)...).CombinedOutput()
		if err != nil {
			b.Fatalf("podman %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	b.Cleanup(func() {
		// Podman keeps a process of each exec for five minutes.
		for pid, args := range processes(b, rig.dir) {
			if strings.Contains(args, "--exec-attach") {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	})
	id := podman("ps", "-q", "--filter", "label=bothy.run="+f.run.RunID)
	for b.Loop() {
		podman("exec", id, "bash", "-c", "true")
	}
}

func BenchmarkReset(b *testing.B) {
	f := newFixture(b, shared(b))
	for b.Loop() {
		f.ok("true")
		if err := f.manager.Reset(b.Context(), f.run); err != nil {
			b.Fatal(err)
		}
	}
}
