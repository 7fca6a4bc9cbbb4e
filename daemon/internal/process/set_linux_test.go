package process

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
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

// TestOwnsWhatItStarted: whoever a plugin has started is that plugin's, also in a session of
// its own, and what was closed is no plugin any more.
func TestOwnsWhatItStarted(t *testing.T) {
	s := NewSet("", hclog.NewNullLogger())
	one, two := begin(t, s, `setsid sh -c 'echo $$ >&2; sleep 300; true' & wait`), begin(t, s, "sleep 300")
	var below int
	eventually(t, "it has started another", func() bool {
		_, text, _ := strings.Cut(one.log.String(), "[INFO]  ")
		below, _ = strconv.Atoi(strings.TrimSpace(text))
		return below > 0
	})
	if !s.Owns(below) || !s.Owns(two.PID()) || s.Owns(os.Getppid()) {
		t.Error("it does not know whose they are")
	}
	if pids := s.PIDs(); len(pids) != 2 || !slices.Contains(pids, one.PID()) || !slices.Contains(pids, two.PID()) {
		t.Errorf("there are %v", pids)
	}
	for n, p := range []child{one, two} {
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if left := s.PIDs(); s.Len() != 1-n || slices.Contains(left, p.PID()) {
			t.Errorf("after %d there are %v", n+1, left)
		}
	}
	eventually(t, "the other is gone", func() bool { return gone(below) || zombie(below) })
}

// TestSpaceThatIsLeftEmpty: a namespace that ends with its plugin is not kept, and a process
// without one of its own has none to keep.
func TestSpaceThatIsLeftEmpty(t *testing.T) {
	cmd := exec.Command("sleep", "300")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := NewSet("", hclog.NewNullLogger())
	space := s.enter(cmd.Process.Pid)
	if space == nil || len(s.spaces) != 1 || s.enter(os.Getpid()) != nil {
		t.Errorf("it has %v, known are %d", space, len(s.spaces))
	}
	_, _ = cmd.Process.Kill(), cmd.Wait()
	s.leave(space, true)
	s.leave(nil, true)
	if len(s.spaces) != 0 {
		t.Error("it is still there")
	}
}
