package group

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
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
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
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
