package sandbox

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// TestOrphansAreEnded stands a shell in for Podman's process beside a container
// that was never finished, with the container's first process as its child.
func TestOrphansAreEnded(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there are containers on Linux only")
	}
	state := t.TempDir()
	m := &Manager{cfg: Config{StateDir: state, Instance: "ours"}, logger: hclog.NewNullLogger()}
	watch := func(id, instance, bundle string) <-chan error {
		cmd := exec.CommandContext(t.Context(), "/bin/sh")
		cmd.Args = []string{"/usr/bin/conmon", "-c", "sleep 600; true", "-u", id, "-n", "bothy-" + key(instance) + "-" + key("run"), "-b", bundle}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for len(children(cmd.Process.Pid)) == 0 {
			time.Sleep(time.Millisecond)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		t.Cleanup(func() {
			for _, pid := range children(cmd.Process.Pid) {
				kill(pid)
			}
		})
		return ended
	}
	orphan := watch("orphan", "ours", filepath.Join(state, "b"))
	others := map[string]<-chan error{
		"one that Podman knows":    watch("known", "ours", filepath.Join(state, "b")),
		"another instance's":       watch("x", "theirs", filepath.Join(state, "b")),
		"one of another directory": watch("y", "ours", "/elsewhere/b"),
	}
	m.endUnknown([]listed{{ID: "known"}})
	select {
	case <-orphan:
	case <-time.After(10 * time.Second):
		t.Error("the orphan lives")
	}
	for name, ended := range others {
		select {
		case <-ended:
			t.Errorf("%s was ended", name)
		default:
		}
	}
}
