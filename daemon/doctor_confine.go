package daemon

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/confine"
)

// confineFinding says whether this machine can hold a plugin to its confine
// block, and to none when it is asked what it declares.
func confineFinding(cfg *config.Config, paths Paths) Finding {
	f := Finding{Name: "confinement", Level: "ok", Detail: "the kernel holds a plugin to its confine block"}
	shim := filepath.Join(paths.Libexec, "bothy-shim")
	if _, err := os.Stat(shim); err != nil && runtime.GOOS == "linux" {
		f.Level, f.Detail = "fail", "what confines plugins is missing: "+err.Error()
		f.Hint = "install Bothy again: until then a plugin with a confine block does not start, and those that come with Bothy run without"
		return f
	}
	lacks := confine.ThisKernel(shim).Lacks()
	if len(lacks) == 0 {
		return f
	}
	f.Level, f.Detail = "warn", "nothing here can hold a plugin back from "+strings.Join(lacks, "; ")
	f.Hint = "a plugin with a confine block is refused unless it sets best_effort = true; one that is not pinned says what it declares without these walls"
	for _, p := range slices.Concat(cfg.Plugins, cfg.Providers) {
		if p.Enabled && p.Confine != nil && !p.Confine.BestEffort {
			f.Level = "fail"
		}
	}
	return f
}
