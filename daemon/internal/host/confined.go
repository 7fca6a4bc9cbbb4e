package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/confine"
	"github.com/bothyd/bothy/sdk"
)

// confinedDir is the folder, in the daemon's data, of what confined plugins
// keep.
const confinedDir = "confined"

// confinement is one process that is held to its block: what bothy-shim applies
// to itself before it becomes the plugin.
type confinement struct {
	shim string
	spec confine.Spec
	home string   // its own for good; its working data
	tmp  string   // its own until it ends
	spot *os.File // the spec on its way to the shim
}

// confinable says why a plugin cannot be held to its block, or what does not
// hold of it on this kernel where the block puts up with that.
func (c *Config) confinable(spec Spec) (lacks []string, fail *startError) {
	if spec.Confine == nil {
		return nil, nil
	}
	if spec.granted(sdk.GrantSandbox) {
		return nil, &startError{
			summary: "it cannot be confined", permanent: true,
			detail: "Its block has confine and grants \"" + sdk.GrantSandbox + "\", which needs Podman: that makes namespaces and containers of its own. Take one of them away.",
		}
	}
	if _, err := os.Stat(c.Shim); err != nil && runtime.GOOS == "linux" {
		return nil, &startError{
			summary: "it cannot be confined", permanent: true,
			detail: fmt.Sprintf("bothy-shim, which confines it, is missing: %v. Install Bothy again.", err),
		}
	}
	lacks = c.kernel().Lacks()
	if len(lacks) > 0 && !spec.Confine.BestEffort {
		return nil, &startError{
			summary: "it cannot be confined on this machine", permanent: true,
			detail: "This kernel cannot hold it back from " + strings.Join(lacks, "; ") + ". Update the kernel or its settings, or set best_effort = true in its confine block to run it all the same.",
		}
	}
	return lacks, nil
}

// confine makes the bounds of one process, and the folders that are its own.
// It is nil where nothing is to be held, or nothing can be.
func (c *Config) confine(spec Spec, b *binary) (*confinement, error) {
	if spec.Confine == nil || runtime.GOOS != "linux" {
		return nil, nil
	}
	own := filepath.Join(c.DataDir, confinedDir, spec.Instance)
	w := &confinement{shim: c.Shim, home: filepath.Join(own, "home")}
	sockets := filepath.Join(c.SocketDir, spec.Instance)
	for _, dir := range []string{w.home, filepath.Join(w.home, "run"), sockets} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make its own folder: %w", err)
		}
	}
	bounds := c.limits(spec)
	var err error
	if w.tmp, err = os.MkdirTemp(own, "tmp"); err != nil {
		return nil, fmt.Errorf("make its own folder: %w", err)
	}
	w.spec = confine.Spec{
		Write:   append([]string{w.home, w.tmp, sockets}, spec.Confine.Paths...),
		Read:    append(b.beside(), spec.Confine.ReadPaths...),
		Network: spec.Confine.Network, BestEffort: spec.Confine.BestEffort, Apart: c.kernel().Apart(),
		Memory: max(0, bounds.Memory), Files: max(0, bounds.Files), Parent: os.Getpid(),
	}
	return w, nil
}

// apply lets the shim start in the place of the plugin that cmd is about. The
// folder of its sockets is the one thing that is known only now.
func (w *confinement) apply(cmd *exec.Cmd, b *binary, socketDir string) error {
	w.spec.Path, w.spec.Args, w.spec.Env = cmd.Path, cmd.Args, cmd.Env
	if socketDir != "" {
		w.spec.Write = append(w.spec.Write, socketDir)
	}
	var err error
	if w.spot, err = confine.Hand(w.spec); err != nil {
		return err
	}
	cmd.Path, cmd.Args, cmd.Env = w.shim, []string{w.shim, "confine"}, []string{}
	cmd.ExtraFiles = []*os.File{b.file, w.spot}
	if w.spec.Apart {
		confine.Apart(cmd.SysProcAttr)
	}
	return nil
}

// handed closes what the shim has inherited.
func (w *confinement) handed() {
	if w != nil && w.spot != nil {
		_ = w.spot.Close() // memory without a name
	}
}

// remove takes away what was the process's own until it ended.
func (w *confinement) remove() error {
	if w == nil {
		return nil
	}
	return os.RemoveAll(w.tmp)
}

// reach gives the daemon's socket a second name in the folder of the plugin's own
// sockets: the first one does not exist for a confined plugin, and the folder that
// it lies in has tokens.
func (w *confinement) reach(socket, dir string) (string, error) {
	if w == nil {
		return socket, nil
	}
	name := filepath.Join(dir, "daemon.sock")
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return name, os.Link(socket, name)
}

// environment is the plugin's, with every folder of the user's that it names
// exchanged for one of the plugin's own. What the block sets stays.
func (w *confinement) environment(env []string, spec Spec) []string {
	if w == nil {
		return env
	}
	own := map[string]string{
		"HOME": w.home, "TMPDIR": w.tmp, "XDG_RUNTIME_DIR": filepath.Join(w.home, "run"),
		"XDG_CONFIG_HOME": filepath.Join(w.home, ".config"), "XDG_DATA_HOME": filepath.Join(w.home, ".local", "share"),
		"XDG_CACHE_HOME": filepath.Join(w.home, ".cache"), "XDG_STATE_HOME": filepath.Join(w.home, ".local", "state"),
		"XDG_CONFIG_DIRS": "", "XDG_DATA_DIRS": "", "DBUS_SESSION_BUS_ADDRESS": "", "BOTHY_PREFIX": "", "BOTHY_PODMAN": "",
	}
	var out []string
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		_, theirs := own[name]
		if _, set := spec.Env[name]; set || !theirs {
			out = append(out, v)
		}
	}
	for _, name := range keys(own) {
		if _, set := spec.Env[name]; !set && own[name] != "" {
			out = append(out, name+"="+own[name])
		}
	}
	return out
}

// held says, for people, what a plugin is held to, and what does not hold.
func held(c *config.Confine, lacks []string) string {
	if c == nil {
		return ""
	}
	parts := append([]string{"its own folder"}, c.Paths...)
	for _, p := range c.ReadPaths {
		parts = append(parts, p+" (read)")
	}
	text := strings.Join(parts, ", ") + "; no network"
	if c.Network {
		text = strings.Join(parts, ", ") + "; the network"
	}
	if len(lacks) > 0 {
		text += "; NOT held back from " + strings.Join(lacks, "; ")
	}
	return text
}

// unheld warns of what the kernel lets a plugin do in spite of its block.
func unheld(spec Spec, lacks []string) []Diagnostic {
	if len(lacks) == 0 {
		return nil
	}
	return []Diagnostic{warn(spec, "it is not confined as its block says",
		"best_effort is set, and this kernel cannot hold it back from "+strings.Join(lacks, "; ")+".")}
}

// beside is what a script may read without being told: the folder that it lies
// in, for its modules lie there, unless that folder holds more than the script's
// own. A program needs none.
func (b *binary) beside() []string {
	if !b.script {
		return nil
	}
	dir := filepath.Dir(b.path)
	home, err := os.UserHomeDir()
	if err != nil || dir == "/" || within(home, dir) {
		return nil
	}
	return []string{dir}
}

// within reports whether path is dir or lies below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// stranger is the confinement in which a binary that nobody vouches for says
// what it declares: it may read the system and itself, and has no network. It
// is nil for one that is part of the installation or pinned.
func (c *Config) stranger(b *binary) (*confinement, error) {
	if c.Shim == "" || b.pin != "" || runtime.GOOS != "linux" {
		return nil, nil
	}
	if _, err := os.Stat(c.Shim); err != nil {
		return nil, fmt.Errorf("it is not pinned, and what would confine it is missing: %w: install Bothy again", err)
	}
	return &confinement{
		shim: c.Shim, home: "/", tmp: "/tmp",
		spec: confine.Spec{Read: b.beside(), Memory: describeMemory, Parent: os.Getpid(), BestEffort: true, Apart: c.kernel().Apart()},
	}, nil
}

// unwalled is what a binary that nobody vouches for was not held back from when
// it was asked what it declares.
func (c *Config) unwalled(spec Spec) []string {
	if c.Shim == "" || spec.Path == "" || spec.SHA256 != "" {
		return nil
	}
	return c.kernel().Lacks()
}
