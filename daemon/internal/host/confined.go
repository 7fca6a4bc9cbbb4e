package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/confine"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// confinedDir is the folder, in the daemon's data, of what confined plugins
// keep.
const confinedDir = "confined"

// confine makes the bounds of one process, and the folders that are its own; nil where
// nothing is to be held, or nothing can be. It says what does not hold on this kernel,
// where the block puts up with that.
func (c *Config) confine(spec inspect.Spec, b *inspect.Binary) (w *confine.Process, lacks []string, fail *inspect.Fault) {
	if spec.Confine == nil {
		return nil, nil, nil
	}
	if spec.Granted(sdk.GrantSandbox) {
		return nil, nil, &inspect.Fault{
			Summary: "it cannot be confined", Permanent: true,
			Detail: "Its block has confine and grants \"" + sdk.GrantSandbox + "\", which needs Podman: that makes namespaces and containers of its own. Take one of them away.",
		}
	}
	own, sockets := filepath.Join(c.DataDir, confinedDir, spec.Instance), filepath.Join(c.SocketDir, spec.Instance)
	w = &confine.Process{Shim: c.Shim, Home: filepath.Join(own, "home")}
	err := errors.Join(os.MkdirAll(filepath.Join(w.Home, "run"), 0o700), os.MkdirAll(sockets, 0o700))
	if _, missing := os.Stat(c.Shim); missing != nil && runtime.GOOS == "linux" {
		if spec.Confine.Bundled && err == nil { // nobody asked for it, and doctor says it
			return nil, []string{"anything: bothy-shim, which confines it, is missing"}, nil
		}
		return nil, nil, &inspect.Fault{
			Summary: "it cannot be confined", Permanent: true,
			Detail: fmt.Sprintf("bothy-shim, which confines it, is missing: %v. Install Bothy again.", missing),
		}
	}
	if fail := spec.NotThere(); fail != nil {
		return nil, nil, fail
	}
	lacks = c.Kernel().Lacks()
	switch {
	case len(lacks) > 0 && !spec.Confine.BestEffort:
		return nil, nil, &inspect.Fault{
			Summary: "it cannot be confined on this machine", Permanent: true,
			Detail: "This kernel cannot hold it back from " + strings.Join(lacks, "; ") + ". Update the kernel or its settings, or set best_effort = true in its confine block to run it all the same.",
		}
	case runtime.GOOS != "linux":
		return nil, lacks, nil
	}
	bounds, read := c.limits(spec), append(b.Beside(), spec.Confine.ReadPaths...)
	if spec.Confine.Network {
		read = append(read, confine.Certificates(spec.Env)...)
	}
	if err == nil {
		w.Tmp, err = os.MkdirTemp(own, "tmp")
	}
	if err != nil {
		return nil, nil, &inspect.Fault{Summary: "it cannot be confined", Detail: "make its own folder: " + err.Error()}
	}
	w.Spec = confine.Spec{
		Write:   append([]string{w.Home, w.Tmp, sockets}, spec.Confine.Paths...),
		Read:    read,
		Network: spec.Confine.Network, BestEffort: spec.Confine.BestEffort, Apart: c.Kernel().Apart(),
		Memory: max(0, bounds.Memory), Files: max(0, bounds.Files), Parent: os.Getpid(),
	}
	return w, lacks, nil
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

// limits are those of one plugin. One that runs containers passes its limits on
// to them, so it has none: its containers have their own.
func (c *Config) limits(spec inspect.Spec) config.Limits {
	if spec.Granted(sdk.GrantSandbox) {
		return config.Limits{}
	}
	l := spec.Limits
	if l.Memory == 0 {
		l.Memory = c.Memory
	}
	return l
}

// unlimited warns about limits that cannot hold: what runs containers would pass
// them on, and a container has its own.
func unlimited(spec inspect.Spec) []inspect.Diagnostic {
	if !spec.Granted(sdk.GrantSandbox) || spec.Limits.Memory <= 0 && spec.Limits.Files <= 0 {
		return nil
	}
	return []inspect.Diagnostic{spec.Warn("its limits do not hold, for it is granted "+strconv.Quote(sdk.GrantSandbox),
		"The containers that it runs would inherit them. Take the limits block away, and bound the containers in the sandbox block.")}
}
