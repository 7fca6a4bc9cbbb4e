package process

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/group"
)

// built is the folder of what shim built.
var built string

// shim builds bothy-shim, once.
var shim = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "shim")
	if err != nil {
		return "", err
	}
	built = dir
	out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "bothy-shim"), "../../cmd/bothy-shim").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return filepath.Join(dir, "bothy-shim"), nil
})

// childEnv makes the test binary a daemon that starts one process, tells of it, and waits
// to be killed.
const childEnv = "BOTHY_PROCESS_TEST_CHILD"

func TestMain(m *testing.M) {
	if shim := os.Getenv(childEnv); shim != "" {
		s := NewSet(shim, hclog.NewNullLogger())
		p := s.New(Options{Log: hclog.NewNullLogger()})
		cmd := exec.Command("/bin/sh", "-c", "sleep 300 & echo $!; wait")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
		p.Take(cmd, "/nowhere")
		if err := p.Start(context.Background()); err != nil {
			fmt.Println(err)
		}
		line, _ := bufio.NewReader(p.Stdout()).ReadString('\n')
		fmt.Println(p.PID(), strings.TrimSpace(line))
		select {}
	}
	code := m.Run()
	_ = os.RemoveAll(built)
	os.Exit(code)
}

func needShim(t *testing.T) string {
	t.Helper()
	path, err := shim()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestReaperKilled: one that is killed gets a successor as soon as there is something to
// say, which knows of all processes, and an orderly stop leaves none.
func TestReaperKilled(t *testing.T) {
	out := &log{}
	s := NewSet(needShim(t), hclog.New(&hclog.LoggerOptions{Output: out}))
	begin(t, s, "sleep 300")
	first := s.reaper.cmd.Process.Pid
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the first is gone with all its threads, which hold the pipe", func() bool {
		threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", first)) // none when it is gone
		return zombie(first) && len(threads) <= 1
	})
	begin(t, s, "sleep 300")
	second := s.reaper.cmd.Process.Pid
	if second == first || gone(second) || len(s.reaper.there) != 2 || !strings.Contains(out.String(), "another takes the place") {
		t.Errorf("no successor of %d: %d; it knows %d; logged %q", first, second, len(s.reaper.there), out)
	}
	s.Stop()
	if !gone(second) {
		t.Error("it outlived an orderly stop")
	}
}

// TestNoReaper: without one processes run all the same, and the log warns.
func TestNoReaper(t *testing.T) {
	out := &log{}
	s := NewSet(filepath.Join(t.TempDir(), "absent"), hclog.New(&hclog.LoggerOptions{Output: out}))
	p := begin(t, s, "exit 0")
	<-p.Done()
	if text := out.String(); !strings.Contains(text, "may stay behind") || !strings.Contains(text, "repair the installation") {
		t.Errorf("the log says %s", text)
	}
	s.Stop()
}

// TestDaemonKilled: what a process has started ends with a daemon that is killed, and so
// does who saw to that.
func TestDaemonKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childEnv+"="+needShim(t))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid, grandchild int
	if _, err := fmt.Fscan(out, &pid, &grandchild); err != nil {
		t.Fatal(err)
	}
	if gone(pid) || gone(grandchild) {
		t.Fatal("they did not begin")
	}
	_, _ = cmd.Process.Kill(), cmd.Wait()
	eventually(t, "they are gone", func() bool {
		return (gone(pid) || zombie(pid)) && (gone(grandchild) || zombie(grandchild))
	})
}

// listening is a shim that writes down what it is told, and the file of that.
func listening(t *testing.T, script string) (shim, file string) {
	t.Helper()
	dir := t.TempDir()
	shim, file = filepath.Join(dir, "shim"), filepath.Join(dir, "told")
	if err := os.WriteFile(shim, []byte("#!/bin/sh\nPATH=/usr/bin:/bin\nfile="+file+"\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return shim, file
}

// TestReaperIsTold: of each process when it is there and when it has gone, with what marks
// all that it starts.
func TestReaperIsTold(t *testing.T) {
	shim, file := listening(t, `exec cat >"$file"`)
	s := NewSet(shim, hclog.NewNullLogger())
	t.Cleanup(s.Stop)
	marked, left := begin(t, s, "sleep 300"), begin(t, s, "sleep 300", func(o *Options) { o.Leaves = true })
	lines := []string{group.Of(marked.PID(), marked.mark).Line(true), group.Of(left.PID(), "").Line(true)}
	if marked.mark == "" || left.mark != "" || !strings.Contains(lines[0], marked.Dir) {
		t.Errorf("the marks are %q and %q, told is %q", marked.mark, left.mark, lines)
	}
	for _, p := range []child{marked, left} {
		lines = append(lines, group.Of(p.PID(), p.mark).Line(false))
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "all is told", func() bool {
		told, _ := os.ReadFile(file)
		return string(told) == strings.Join(lines, "")
	})
	if len(s.reaper.there) != 0 {
		t.Errorf("it keeps %v", s.reaper.there)
	}
}

// TestReaperIsDeaf: one that does not listen is not waited for, and its successor is told of
// all that is there.
func TestReaperIsDeaf(t *testing.T) {
	shim, file := listening(t, `[ -e "$file" ] && exec cat >"$file"
touch "$file"
exec sleep 300`)
	out := &log{}
	r := newReaper(shim, hclog.New(&hclog.LoggerOptions{Output: out}))
	t.Cleanup(r.stop)
	eventually(t, "it has begun", func() bool { _, err := os.Stat(file); return err == nil })
	var there []group.Group
	for len(there) == 0 || !strings.Contains(out.String(), "another takes the place") { // until its pipe is full
		there = append(there, r.add(os.Getpid(), fmt.Sprintf("MARK=%d %s", len(there), strings.Repeat("x", 8<<10))))
	}
	eventually(t, "the successor knows all", func() bool {
		told, _ := os.ReadFile(file)
		for _, g := range there {
			if !strings.Contains(string(told), g.Line(true)) {
				return false
			}
		}
		return true
	})
}

// TestNobodyReaps: a set without a shim has nobody to tell.
func TestNobodyReaps(t *testing.T) {
	s := NewSet("", hclog.NewNullLogger())
	if g := s.reaper.add(os.Getpid(), "MARK=1"); g != (group.Group{}) {
		t.Errorf("told of %v", g)
	}
	s.reaper.remove(group.Of(os.Getpid(), ""))
	s.Stop()
}
