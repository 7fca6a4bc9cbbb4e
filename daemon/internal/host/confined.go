package host

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/confine"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// confinedDir is the folder, in the daemon's data, of what confined plugins
// keep.
const confinedDir = "confined"

// confinable says why a plugin cannot be held to its block, or what does not
// hold of it on this kernel where the block puts up with that.
func (c *Config) confinable(spec inspect.Spec) (lacks []string, fail *inspect.Fault) {
	if spec.Confine == nil {
		return nil, nil
	}
	if spec.Granted(sdk.GrantSandbox) {
		return nil, &inspect.Fault{
			Summary: "it cannot be confined", Permanent: true,
			Detail: "Its block has confine and grants \"" + sdk.GrantSandbox + "\", which needs Podman: that makes namespaces and containers of its own. Take one of them away.",
		}
	}
	if err := c.shimMissing(); err != nil && spec.Confine.Bundled { // nobody asked for it, and doctor says it
		return []string{"anything: bothy-shim, which confines it, is missing"}, nil
	} else if err != nil {
		return nil, &inspect.Fault{
			Summary: "it cannot be confined", Permanent: true,
			Detail: fmt.Sprintf("bothy-shim, which confines it, is missing: %v. Install Bothy again.", err),
		}
	}
	if fail := spec.NotThere(); fail != nil {
		return nil, fail
	}
	lacks = c.Kernel().Lacks()
	if len(lacks) > 0 && !spec.Confine.BestEffort {
		return nil, &inspect.Fault{
			Summary: "it cannot be confined on this machine", Permanent: true,
			Detail: "This kernel cannot hold it back from " + strings.Join(lacks, "; ") + ". Update the kernel or its settings, or set best_effort = true in its confine block to run it all the same.",
		}
	}
	return lacks, nil
}

// shimMissing says why there is nothing that would confine a plugin, where that is needed.
func (c *Config) shimMissing() error {
	if runtime.GOOS != "linux" {
		return nil
	}
	_, err := os.Stat(c.Shim)
	return err
}

// confine makes the bounds of one process, and the folders that are its own.
// It is nil where nothing is to be held, or nothing can be.
func (c *Config) confine(spec inspect.Spec, b *inspect.Binary) (*confine.Process, error) {
	if spec.Confine == nil || runtime.GOOS != "linux" {
		return nil, nil
	}
	own := filepath.Join(c.DataDir, confinedDir, spec.Instance)
	w := &confine.Process{Shim: c.Shim, Home: filepath.Join(own, "home")}
	sockets := filepath.Join(c.SocketDir, spec.Instance)
	for _, dir := range []string{w.Home, filepath.Join(w.Home, "run"), sockets} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make its own folder: %w", err)
		}
	}
	if spec.Confine.Bundled && c.shimMissing() != nil {
		return nil, nil
	}
	bounds := c.limits(spec)
	read := append(b.Beside(), spec.Confine.ReadPaths...)
	if spec.Confine.Network {
		read = append(read, confine.Certificates(spec.Env)...)
	}
	var err error
	if w.Tmp, err = os.MkdirTemp(own, "tmp"); err != nil {
		return nil, fmt.Errorf("make its own folder: %w", err)
	}
	w.Spec = confine.Spec{
		Write:   append([]string{w.Home, w.Tmp, sockets}, spec.Confine.Paths...),
		Read:    read,
		Network: spec.Confine.Network, BestEffort: spec.Confine.BestEffort, Apart: c.Kernel().Apart(),
		Memory: max(0, bounds.Memory), Files: max(0, bounds.Files), Parent: os.Getpid(),
	}
	return w, nil
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
func unheld(spec inspect.Spec, lacks []string) []inspect.Diagnostic {
	if len(lacks) == 0 || spec.Confine != nil && spec.Confine.Bundled { // nobody asked for it, and doctor says it
		return nil
	}
	return []inspect.Diagnostic{spec.Warn("it is not confined as its block says",
		"best_effort is set, and this kernel cannot hold it back from "+strings.Join(lacks, "; ")+".")}
}
