package group

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// sleeper starts a process that leads a group of its own.
func sleeper(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "300")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // killed, as wanted
	})
	return cmd
}

// runs reports whether a child of the test has not ended; it reaps nothing.
func runs(t *testing.T, cmd *exec.Cmd) bool {
	t.Helper()
	out, err := exec.Command("ps", "-o", "stat=", "-p", fmt.Sprint(cmd.Process.Pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

// TestReap: what is told of and not taken back is killed when the other end
// closes; what is another's by now is not, whatever the lines say.
func TestReap(t *testing.T) {
	left, ended, others := sleeper(t), sleeper(t), sleeper(t)
	another := Of(others.Process.Pid, "")
	another.Born++
	if another.Born == 1 {
		t.Skip("when a process started is known on Linux only")
	}
	lines := Of(left.Process.Pid, "").Line(true) + Of(ended.Process.Pid, "").Line(true) + "a later word 1 2\n+\n+ x y \n+ 0 0 \n+ -1 0 \n+ 1 0 \n" +
		another.Line(true) + Of(ended.Process.Pid, "").Line(false)
	Reap(strings.NewReader(lines))
	if err := left.Wait(); err == nil || left.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("what was left ended with %v", err)
	}
	if !runs(t, ended) || !runs(t, others) {
		t.Errorf("killed: what was taken back %v, another's %v", !runs(t, ended), !runs(t, others))
	}
}

// TestKillGone: a group that has ended is no error.
func TestKillGone(t *testing.T) {
	cmd := sleeper(t)
	g := Of(cmd.Process.Pid, "")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed, as wanted
	if err := g.Kill(); err != nil {
		t.Error(err)
	}
}

func FuzzReap(f *testing.F) {
	f.Add([]byte("+ 4194305 1\n- 4194305 1\n"))
	f.Add([]byte("+\n-\n+ + +\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		// Every group is taken back, so that nothing is killed whatever the lines are.
		var all bytes.Buffer
		for line := range bytes.Lines(b) {
			line = bytes.TrimSuffix(line, []byte("\n"))
			fmt.Fprintf(&all, "%s\n", bytes.ReplaceAll(line, []byte("+"), []byte("-")))
		}
		Reap(&all)
	})
}
