package confine

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// Process is one process that is held to a Spec, which bothy-shim applies to
// itself before it becomes the plugin. A nil Process is not held to anything.
type Process struct {
	Shim string
	Spec Spec
	Home string // its own for good; its working data
	Tmp  string // its own until it ends

	handed *os.File // the Spec on its way to the shim
}

// Apply lets the shim start in the place of the plugin that cmd is about: binary is
// its open file, socketDir the folder of its sockets, or empty. Call Started when
// cmd has started, or cannot.
func (p *Process) Apply(cmd *exec.Cmd, binary *os.File, socketDir string) error {
	p.Spec.Path, p.Spec.Args, p.Spec.Env = cmd.Path, cmd.Args, cmd.Env
	if socketDir != "" {
		p.Spec.Write = append(p.Spec.Write, socketDir)
	}
	var err error
	if p.handed, err = SendSpec(p.Spec); err != nil {
		return err
	}
	cmd.Path, cmd.Args, cmd.Env = p.Shim, []string{p.Shim, "confine"}, []string{}
	cmd.ExtraFiles = []*os.File{binary, p.handed}
	if p.Spec.Apart {
		Apart(cmd.SysProcAttr)
	}
	return nil
}

// Started closes what the shim has inherited.
func (p *Process) Started() {
	if p != nil && p.handed != nil {
		_ = p.handed.Close() // memory without a name
	}
}

// Remove takes away what was the process's own until it ended.
func (p *Process) Remove() error {
	if p == nil {
		return nil
	}
	return os.RemoveAll(p.Tmp)
}

// Reach gives the daemon's socket a second name in the folder of the plugin's own
// sockets: the first one does not exist for a confined plugin, and the folder that
// it lies in has tokens.
func (p *Process) Reach(socket, dir string) (string, error) {
	if p == nil {
		return socket, nil
	}
	name := filepath.Join(dir, "daemon.sock")
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return name, os.Link(socket, name)
}
