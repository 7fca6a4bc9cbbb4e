package process

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/hashicorp/go-hclog"
)

// TestSpaceOutlivesItsPlugin: whoever is in a namespace that could not be emptied is a
// plugin's still, and the next start empties it.
func TestSpaceOutlivesItsPlugin(t *testing.T) {
	cmd := exec.Command("sleep", "300")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // killed, as wanted
	s := NewSet("", hclog.NewNullLogger())
	s.leave(s.enter(cmd.Process.Pid), false)
	if !s.Owns(cmd.Process.Pid) || s.Owns(os.Getpid()) {
		t.Error("it is nobody's, or this process is a plugin's")
	}
	if s.enter(os.Getpid()); len(s.spaces) != 0 {
		t.Error("it is still there")
	}
}
