package sandbox

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
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

// TestWhatIsLaunchedEnds: what a process of ours has forked is in our group, which is
// killed when we are, and is ended with it.
func TestWhatIsLaunchedEnds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a process dies with this one on Linux only")
	}
	c, err := launch(exec.Command("/bin/sh", "-c", "sleep 600 & wait"))
	if err != nil {
		t.Fatal(err)
	}
	for len(children(c.pid)) == 0 {
		time.Sleep(time.Millisecond)
	}
	for _, pid := range append(children(c.pid), c.pid) {
		if group, err := syscall.Getpgid(pid); err != nil || group != syscall.Getpgrp() {
			t.Errorf("the process %d is in the group %d (%v), and we are in %d", pid, group, err, syscall.Getpgrp())
		}
	}
	forked := children(c.pid)
	endTree(c.pid)
	<-c.done
	for _, pid := range forked {
		for commandLine(pid) != nil {
			time.Sleep(time.Millisecond)
		}
	}
}
