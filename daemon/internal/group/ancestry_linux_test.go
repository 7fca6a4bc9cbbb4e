package group

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// detached starts a shell that goes on, and a process of it whose parent has ended. With
// apart both are in a user namespace of their own.
func detached(t *testing.T, apart bool) (shell, away int) {
	t.Helper()
	cmd := exec.Command("sh", "-c", "(sleep 300 & echo $!); exec sleep 300")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if apart {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Error(err)
		}
		_ = cmd.Wait() // killed, as wanted
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(line, &away); err != nil {
		t.Fatal(err)
	}
	for slices.Contains(whole(away), cmd.Process.Pid) { // until the shell between them has ended
		runtime.Gosched()
	}
	return cmd.Process.Pid, away
}

func whole(pid int) []int {
	line, _ := ancestry(pid)
	return line
}

// TestLeftItsParents: a process that left its parents behind is found when they are in a user
// namespace of their own, as a confined plugin is, and not found otherwise: it is anybody's.
func TestLeftItsParents(t *testing.T) {
	shell, away := detached(t, true)
	if !Descends(away, []int{1 << 29, shell}) || !Within(away, shell) || Descends(away, []int{1 << 29}) {
		t.Errorf("apart: descends %v, within %v, from another %v", Descends(away, []int{shell}), Within(away, shell), Descends(away, []int{1 << 29}))
	}
	other, _ := detached(t, true)
	if Descends(away, []int{other}) || Within(other, shell) {
		t.Error("one namespace is taken for another")
	}
	shell, away = detached(t, false)
	if Descends(away, []int{shell}) || Within(away, shell) || !Within(shell, shell) {
		t.Error("a process without a mark is found")
	}
	if Descends(os.Getpid(), []int{shell}) {
		t.Error("this process is taken for a plugin's")
	}
}

// TestPeerGone: one that has ended when it is looked for may have left its connection to
// another, which nobody can tell any more.
func TestPeerGone(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if !Descends(cmd.Process.Pid, nil) || Within(cmd.Process.Pid, os.Getpid()) {
		t.Error("it is nobody's, or lends what a channel has")
	}
}

// TestSpace: what a process left in its user namespace is known by it when the process has
// ended, and killed with it, also where it took the mark off.
func TestSpace(t *testing.T) {
	shell, away := detached(t, true)
	space := SpaceOf(shell)
	t.Cleanup(space.Close)
	none := SpaceOf(os.Getpid())
	if none != nil || none.Has(away) || space.Has(os.Getpid()) || !space.Has(away) {
		t.Fatalf("this process %v, in it %v, of it %v", none, space.Has(os.Getpid()), space.Has(away))
	}
	other, _ := detached(t, true)
	if space.Has(other) {
		t.Error("one namespace is taken for another")
	}
	lines := Of(shell, "NOBODY=has").Line(true)
	Reap(strings.NewReader(lines))
	if !dead(away) || !KillMarked("", space) {
		t.Error("what left its parents and took the mark off goes on")
	}
	if dead(other) {
		t.Error("killed: what is in another namespace")
	}
}

// dead reports whether a process has ended, reaped or not.
func dead(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ")
}
