package host

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// runSmallHost is what the test kills: it starts plugins, which start processes
// of their own, prints the ids of all and waits.
func runSmallHost() {
	dir, err := os.MkdirTemp("/tmp", "bh")
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := New(filled(Config{Config: inspect.Config{Log: hclog.New(&hclog.LoggerOptions{Level: hclog.Warn}), DataDir: dir, Shim: shimBinary()}, SocketDir: dir}))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range s.start(context.Background(), []inspect.Spec{
		{Instance: "a", Path: os.Getenv(asHost)}, {Instance: "b", Path: os.Getenv(asHost)},
	}) {
		if !d.Warning() {
			fmt.Fprintln(os.Stderr, d.Summary, d.Detail)
		}
	}
	started, err := s.Invoke(context.Background(), sdk.Invocation{Tool: "a__children"}, newOut())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	fmt.Println(dir, watcher(), s.Plugins()[0].PID, s.Plugins()[1].PID, started.Output)
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
}

// hostKilled (17): a daemon that is killed leaves nothing behind after a second,
// neither plugins nor what they have started, though that ignores signals. Ctrl-C
// on its terminal does not reach who sees to it.
func hostKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), asHost+"="+faultBinary)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var dir string
	pids := make([]int, 6) // the reaper, two plugins, a shell, what is below it and what left its session
	if _, err := fmt.Fscan(stdout, &dir, &pids[0], &pids[1], &pids[2], &pids[3], &pids[4], &pids[5]); err != nil {
		_ = cmd.Process.Kill() // the test has failed already
		t.Fatalf("the small host said %q %v: %v", dir, pids, err)
	}
	defer os.RemoveAll(dir)
	if session, err := syscall.Getpgid(pids[0]); err != nil || session != pids[0] {
		t.Errorf("the reaper %d is in the group %d: %v", pids[0], session, err)
	}
	if slices.ContainsFunc(pids, gone) {
		t.Fatalf("not all of %v run", pids)
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed, as wanted
	eventually(t, "all are gone", func() bool { return !slices.ContainsFunc(pids, func(pid int) bool { return !gone(pid) }) })
}

// watcher is the process beside the daemon that watches for its death; 0 when there is none.
func watcher() int {
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range all {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it is gone
		}
		var pid, parent int
		var state string
		_, _ = fmt.Sscanf(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " %1s %d", &state, &parent)
		_, _ = fmt.Sscanf(string(stat), "%d", &pid)
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if parent == os.Getpid() && state != "Z" && bytes.HasSuffix(line, []byte("\x00reap\x00")) {
			return pid
		}
	}
	return 0
}
