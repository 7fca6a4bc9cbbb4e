//go:build !linux

package inspect

import (
	"os/exec"
	"syscall"
)

// SetUp gives the process a group of its own. It starts what the path names: there
// is no way to start an open file here. Nothing ends it with the daemon; a plugin of
// the SDK ends when its connection closes.
func (b *Binary) SetUp(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	b.prepare(cmd)
}
