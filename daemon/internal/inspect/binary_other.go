//go:build !linux

package inspect

import (
	"io/fs"
	"os/exec"
	"syscall"
	"time"
)

// SetUp gives the process a group of its own. It starts what the path names: there
// is no way to start an open file here. Nothing ends it with the daemon; a plugin of
// the SDK ends when its connection closes.
func (b *Binary) SetUp(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	b.prepare(cmd)
}

// changeTime is not portable; the time of modification has to do, so that one that is
// set back is not seen.
func changeTime(info fs.FileInfo) time.Time { return info.ModTime() }
