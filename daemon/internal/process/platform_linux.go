package process

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/group"
)

// reap waits for the end, kills what the process left in its group, in its user namespace
// or with its mark, and only then takes its status: until then the group's number is nobody else's.
func (p *Process) reap() error {
	for {
		err := unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	p.set.leave(p.space, group.KillMarked(p.mark, p.space))
	p.killGroup()
	p.mu.Lock()
	defer p.mu.Unlock()
	state, err := p.cmd.Process.Wait()
	p.state, p.ended = state, true
	return err
}

// limit bounds what the process may allocate and open, and makes the kernel
// choose it before the daemon when memory runs out. It is best effort: a process
// that is gone already needs none. One without a bound of memory gets no mark:
// what it starts would inherit it, and rootless containers cannot take it off.
func limit(pid int, l config.Limits) {
	set := func(resource int, most int64) {
		_ = unix.Prlimit(pid, resource, &unix.Rlimit{Cur: uint64(most), Max: uint64(most)}, nil)
	}
	if l.Files > 0 {
		set(unix.RLIMIT_NOFILE, l.Files)
	}
	if l.Memory > 0 {
		set(unix.RLIMIT_DATA, l.Memory)
		_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("200"), 0)
	}
}

// Limited reads the limits that hold for a process; zero is none, or unknown.
func Limited(pid int) config.Limits {
	get := func(resource int) int64 {
		var r unix.Rlimit
		if err := unix.Prlimit(pid, resource, nil, &r); err != nil || r.Cur > math.MaxInt64 {
			return 0
		}
		return int64(r.Cur)
	}
	return config.Limits{Memory: get(unix.RLIMIT_DATA), Files: get(unix.RLIMIT_NOFILE)}
}

// Resident is the memory of a process, its RSS in bytes; 0 when it is not known.
func Resident(pid int) int64 {
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
