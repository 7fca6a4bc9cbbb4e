//go:build !linux

package host

import (
	"io/fs"
	"os/exec"
	"syscall"
	"time"

	"github.com/bothyd/bothy/daemon/internal/config"
)

// ownGroup gives the process a group of its own. Nothing here ends it with the
// daemon; a plugin of the SDK ends when its connection closes.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// fromFile leaves the path: there is no way to start an open file here.
func fromFile(*exec.Cmd, *binary) {}

// reap waits for the end, then kills what the process left in its group.
func (p *process) reap() error {
	state, err := p.cmd.Process.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signalGroup(syscall.SIGKILL)
	p.state, p.ended = state, true
	return err
}

// limit does nothing: limits are set by the kernel of Linux.
func limit(int, config.Limits) {}

// limited is not known here.
func limited(int) config.Limits { return config.Limits{} }

// residentMemory is not known here.
func residentMemory(int) int64 { return 0 }

// changeTime is not portable; the time of modification has to do.
func changeTime(*syscall.Stat_t) string { return "" }

// changedAt is when the content changed; one that is set back is not seen.
func changedAt(info fs.FileInfo) time.Time { return info.ModTime() }
