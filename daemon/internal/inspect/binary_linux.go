package inspect

import (
	"os"
	"os/exec"
	"syscall"
)

// SetUp makes the open file what cmd starts, whatever its path names by then, in a
// group of its own that ends with this process. The file stays open in the plugin:
// the interpreter of a script opens it by this name, and finds its way from it to
// the script's folder.
func (b *Binary) SetUp(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.ExtraFiles = []*os.File{b.File}
	cmd.Path = "/proc/self/fd/3"
	b.prepare(cmd)
}
