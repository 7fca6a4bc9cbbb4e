package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ownGroup gives the process a group of its own, which ends with the daemon.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// fromFile starts the open file that was verified instead of its path. It stays
// open in the plugin: the interpreter of a script opens it by this name, and an
// interpreter finds its way from it to the script's folder.
func fromFile(cmd *exec.Cmd, b *binary) {
	cmd.ExtraFiles = []*os.File{b.file}
	cmd.Path = "/proc/self/fd/3"
}

// reap waits for the end, kills what the process left in its group and only
// then takes its status: until then the group's number is nobody else's.
func (p *process) reap() error {
	for {
		err := unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signalGroup(syscall.SIGKILL)
	state, err := p.cmd.Process.Wait()
	p.state, p.ended = state, true
	return err
}

// limit bounds what the process may allocate, and makes the kernel choose it
// before the daemon when memory runs out. Both are best effort: a process that
// is gone already needs neither. One without a bound gets none: what it starts
// would inherit them, and rootless containers cannot take a mark off again.
func limit(pid int, memory int64) {
	if memory <= 0 {
		return
	}
	_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: uint64(memory), Max: uint64(memory)}, nil)
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("200"), 0)
}

// residentMemory is the process's RSS in bytes; 0 when it is not known.
func residentMemory(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// changeTime is when the kernel last saw the file change: nobody can set it.
func changeTime(st *syscall.Stat_t) string { return fmt.Sprintf("%d.%d", st.Ctim.Sec, st.Ctim.Nsec) }

// changedAt is when that was, or the content did, the later of both.
func changedAt(info fs.FileInfo) time.Time {
	at := info.ModTime()
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		if changed := time.Unix(st.Ctim.Unix()); changed.After(at) {
			at = changed
		}
	}
	return at
}
