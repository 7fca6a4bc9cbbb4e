//go:build linux

package sandbox_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk/protect"
)

// childEnv makes the test binary a manager in a process of its own: it opens
// what the variable describes, runs one command and waits to be killed.
const childEnv = "BOTHY_SANDBOX_TEST_CHILD"

type childJob struct {
	Config sandbox.Config
	Run    sandbox.RunSpec
	Script string
}

func childMain(job string) int {
	var j childJob
	if err := json.Unmarshal([]byte(job), &j); err != nil {
		fmt.Println("error", err)
		return 1
	}
	j.Config.Protector = protect.Rules{}
	ctx := context.Background()
	m, err := sandbox.Open(ctx, j.Config, hclog.NewNullLogger())
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	if script, background := strings.CutPrefix(j.Script, inBackground); background {
		_, _, err = m.Start(ctx, j.Run, sandbox.Command{Argv: []string{"bash", "-c", script}}, func(_ int, data []byte) { fmt.Print(string(data)) })
		if err == nil {
			select {}
		}
	}
	_, err = m.Exec(ctx, j.Run, sandbox.Command{Argv: []string{"bash", "-c", j.Script}, Timeout: 5 * time.Minute}, func(_ int, data []byte) {
		fmt.Print(string(data))
	})
	fmt.Println("returned", err)
	select {}
}

// startChild runs a manager in another process until its command has printed
// a line, and returns how to kill it.
func startChild(t *testing.T, cfg sandbox.Config, run sandbox.RunSpec, script string) func() {
	t.Helper()
	cfg.Protector = nil // the child has its own
	job, err := json.Marshal(childJob{Config: cfg, Run: run, Script: script})
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childEnv+"="+string(job))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "ready\n" {
		t.Fatalf("the child said %q %v", line, err)
	}
	return kill
}

// processes finds the processes that have a text in their arguments. Tests only
// ask for their own temporary directories.
func processes(t testing.TB, text string) map[int]string {
	t.Helper()
	entries, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[int]string)
	for _, entry := range entries {
		data, err := os.ReadFile(entry)
		if err != nil || !strings.Contains(string(data), text) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(entry)))
		if err == nil && pid != os.Getpid() {
			found[pid] = strings.ReplaceAll(string(data), "\x00", " ")
		}
	}
	return found
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute) // only against a hang
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("never: %s", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func servicePID(t *testing.T, cfg sandbox.Config) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(cfg.Dir, "podman.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(data))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func TestContainerIsAdoptedAfterTheManagerDied(t *testing.T) {
	needPodman(t)
	cfg := config(t, shortDir(t))
	f := newFixture(t, nil)
	kill := startChild(t, cfg, f.run, "echo kept >/tmp/mark; setsid sleep 600 & echo ready; sleep 600")
	service := servicePID(t, cfg)
	kill()
	eventually(t, "the service dies with its manager", func() bool { return syscall.Kill(service, 0) != nil })

	f.manager = open(t, cfg)
	if got := f.ok("cat /tmp/mark; ps -e -o args= | grep -c '[s]leep 600'; true"); got != "kept\n0" {
		t.Fatalf("got %q, want the old container without its old command", got)
	}
}

// TestStoppedBeforeItTookOver: what a manager left that died is dealt with also when
// whoever opens the next one gives up at once.
func TestStoppedBeforeItTookOver(t *testing.T) {
	needPodman(t)
	cfg := config(t, shortDir(t))
	f := newFixture(t, nil)
	startChild(t, cfg, f.run, "echo ready; sleep 600")()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	eventually(t, "a manager takes over and ends", func() bool { // which may take longer than it goes on
		m, err := sandbox.Open(stopped, cfg, logger(t))
		return err == nil && m.Close(t.Context()) == nil
	})
	if left, busy := sandbox.Left(cfg.Dir); left || busy {
		t.Fatalf("left %v, busy %v", left, busy)
	}
}

func TestContainerOfAnotherSpecIsReplaced(t *testing.T) {
	needPodman(t)
	cfg := config(t, shortDir(t))
	f := newFixture(t, nil)
	startChild(t, cfg, f.run, "echo kept >/tmp/mark; echo ready; sleep 600")()
	cfg.Limits.Pids = 100
	f.manager = open(t, cfg)
	if got := f.ok("test -e /tmp/mark && echo old; ulimit -u"); got != "100" {
		t.Fatalf("got %q", got)
	}
}

func TestInterruptedCommandPlantsNothing(t *testing.T) {
	needPodman(t)
	cfg := config(t, shortDir(t))
	f := newFixture(t, nil)
	startChild(t, cfg, f.run, "mkdir -p .bothy && echo evil >.bothy/config.hcl; echo ready; sleep 600")()
	f.manager = open(t, cfg)
	if _, err := os.Lstat(f.path(".bothy")); !os.IsNotExist(err) {
		t.Fatalf("the planted directory is still there once the manager is open: %v", err)
	}
	out := f.bash("true")
	if len(out.Violations) != 1 || out.Violations[0].Path != ".bothy" {
		t.Fatalf("got %+v", out.Violations)
	}
}

func TestKilledServiceIsStartedAgain(t *testing.T) {
	cfg := config(t, shortDir(t))
	f := newFixture(t, open(t, cfg))
	f.ok("echo kept >/tmp/mark")
	service := servicePID(t, cfg)
	if err := syscall.Kill(service, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := f.ok("cat /tmp/mark"); got != "kept" {
		t.Fatalf("the runner does not need the service, but: %q", got)
	}
	other := newFixture(t, f.manager)
	other.run.RunID += "-other"
	other.ok("true")
	if servicePID(t, cfg) == service {
		t.Fatal("no new service")
	}
	if err := f.manager.Reset(t.Context(), f.run); err != nil {
		t.Fatal(err)
	}
	f.ok("! test -e /tmp/mark")
}

func TestKilledConmonChangesNothing(t *testing.T) {
	cfg := config(t, shortDir(t))
	f := newFixture(t, open(t, cfg))
	f.ok("true")
	killed := 0
	for pid, args := range processes(t, cfg.Dir) {
		if strings.Contains(strings.SplitN(args, " ", 2)[0], "conmon") {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			killed++
		}
	}
	if killed != 1 {
		t.Fatalf("%d conmons for one container", killed)
	}
	f.ok("true")
	if err := f.manager.Reset(t.Context(), f.run); err != nil {
		t.Fatal(err)
	}
	f.ok("true")
}

// runners finds the host's pids of process 1 in the containers of a manager
// whose files lie in a directory: the user may have other containers.
func runners(t *testing.T, dir string) []int {
	t.Helper()
	monitors := processes(t, dir)
	var pids []int
	for pid, args := range processes(t, "/opt/bothy/runner\x00/run/bothy/s") {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || !strings.HasPrefix(args, "/opt/bothy/runner ") {
			continue
		}
		var parent int
		if _, err := fmt.Sscanf(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " %1s %d", new(string), &parent); err != nil {
			t.Fatal(err)
		}
		if _, ours := monitors[parent]; ours {
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestDeadContainerIsReplaced(t *testing.T) {
	dir := shortDir(t)
	f := newFixture(t, open(t, config(t, dir)))
	f.ok("echo kept >/tmp/mark; echo home >~/mark")
	for _, pid := range runners(t, dir) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the runner is gone", func() bool { return syscall.Kill(pid, 0) != nil })
	}
	if got := f.ok("! test -e /tmp/mark && cat ~/mark"); got != "home" {
		t.Fatalf("got %q", got)
	}
}

func TestContainerThatDiesUnderACommandIsALostSandbox(t *testing.T) {
	dir := shortDir(t)
	f := newFixture(t, open(t, config(t, dir)))
	_, err := f.manager.Exec(t.Context(), f.run, sandbox.Command{Argv: []string{"bash", "-c", "echo on; sleep 600"}, Timeout: time.Minute}, func(int, []byte) {
		for _, pid := range runners(t, dir) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	if sandbox.Code(err) != sandbox.CodeLost {
		t.Fatalf("got %v", err)
	}
	f.ok("true")
}

// A runner that is stopped from outside says nothing: its container is removed.
func TestSilentContainerIsReplaced(t *testing.T) {
	dir := shortDir(t)
	f := newFixture(t, open(t, config(t, dir)))
	stop := func() {
		for _, pid := range runners(t, dir) {
			if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
				t.Error(err)
			}
		}
	}
	_, err := f.manager.Exec(t.Context(), f.run, sandbox.Command{Argv: []string{"bash", "-c", "echo on; sleep 600"}, Timeout: time.Minute}, func(int, []byte) { stop() })
	if sandbox.Code(err) != sandbox.CodeLost { // and no timeout
		t.Fatalf("got %v", err)
	}
	f.ok("echo kept >/tmp/mark")
	stop()
	pause(t, time.Second)
	f.ok("! test -e /tmp/mark")
}

func TestCloseLeavesNothing(t *testing.T) {
	needPodman(t)
	dir := shortDir(t)
	cfg := config(t, dir)
	m, err := sandbox.Open(t.Context(), cfg, logger(t))
	if err != nil {
		t.Fatal(err)
	}
	const idle = 11 // with the busy one, more than are removed at a time
	for i := range idle {
		f := newFixture(t, m)
		f.run.RunID += strconv.Itoa(i)
		f.ok("true")
	}
	f := newFixture(t, m)
	done := make(chan error, 1)
	started := make(chan struct{}, 1)
	go func() {
		_, err := m.Exec(context.Background(), f.run, sandbox.Command{Argv: []string{"bash", "-c", "echo on; sleep 600"}}, func(int, []byte) { started <- struct{}{} })
		done <- err
	}()
	<-started
	ours := runners(t, dir)
	if len(ours) != idle+1 {
		t.Fatalf("runners %v, want %d", ours, idle+1)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; sandbox.Code(err) != sandbox.CodeUnavailable {
		t.Errorf("the command that ran: %v", err)
	}
	if left := processes(t, dir); len(left) != 0 {
		t.Errorf("processes are left: %v", left)
	}
	left := processes(t, "/opt/bothy/runner")
	for _, pid := range ours {
		if left[pid] != "" {
			t.Errorf("runner %d is left", pid)
		}
	}
	if _, err := os.Stat(filepath.Join(cfg.Dir, "x", "libpod", "tmp", "pause.pid")); !os.IsNotExist(err) {
		t.Errorf("Podman's pause process: %v", err)
	}
	if _, err := m.Exec(t.Context(), f.run, sandbox.Command{Argv: []string{"true"}}, nil); sandbox.Code(err) != sandbox.CodeUnavailable {
		t.Errorf("after the close: %v", err)
	}
}

// TestDirectoryOfAnEarlierVersionIsWaitedFor: that one has its directory for
// itself.
func TestDirectoryOfAnEarlierVersionIsWaitedFor(t *testing.T) {
	needPodman(t)
	cfg := config(t, shortDir(t))
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := os.OpenFile(filepath.Join(cfg.Dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := sandbox.Open(ctx, cfg, logger(t)); sandbox.Code(err) != sandbox.CodeUnavailable || !strings.Contains(err.Error(), "still uses") {
		t.Fatalf("got %v", err)
	}
}

func TestLongestDirectoryWorks(t *testing.T) {
	needPodman(t)
	dir := shortDir(t)
	cfg := config(t, dir)
	cfg.Dir = filepath.Join(dir, strings.Repeat("d", 80-len(dir)-1))
	f := newFixture(t, open(t, cfg))
	f.ok("true")
}

func TestForeignServiceAndItsContainersAreLeftAlone(t *testing.T) {
	needPodman(t)
	owner := config(t, shortDir(t))
	first := newFixture(t, open(t, owner))
	first.ok("echo kept >/tmp/mark")

	cfg := config(t, shortDir(t))
	cfg.Socket = "unix://" + filepath.Join(owner.Dir, "podman.sock")
	m, err := sandbox.Open(t.Context(), cfg, logger(t))
	if err != nil {
		t.Fatal(err)
	}
	second := newFixture(t, m)
	second.run.RunID += "-second"
	second.ok("true")
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := first.ok("cat /tmp/mark"); got != "kept" {
		t.Fatalf("got %q", got)
	}
}
