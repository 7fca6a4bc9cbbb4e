package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/sandbox/toolchain"
)

// maxDir is the longest [Config.Dir] in bytes: what is left of the 107 bytes of
// a Unix socket path after the names below it.
const maxDir = 80

// Config is how a [Manager] finds Podman and what its containers are like. The
// zero value of an optional field means its default.
type Config struct {
	// Dir holds sockets, the service's runtime state and its lock. It must
	// be short, private to the user and best on a tmpfs; it is made when it
	// is missing. One manager at a time may use it.
	Dir string
	// StateDir holds the images and containers of our own Podman service.
	StateDir string
	// Instance names this daemon on its containers' labels: managers of the
	// same instance adopt each other's containers, never anybody else's.
	Instance string
	// Runner is the path of the bothy-runner binary.
	Runner string
	// View is the path of the bothy-view binary, which makes the views that
	// commands work on. Without one commands work on the projects themselves.
	View string

	// Podman is the podman binary; empty means BOTHY_PODMAN, else podman in
	// PATH. A binary named here or there is used before the user's socket.
	Podman string
	// Socket is the path or unix:// URL of a Podman service to use.
	Socket string
	// Runtime is the OCI runtime: a name, or "auto" (the default) for crun,
	// and runc when a first container fails with it.
	Runtime string
	// Image is a local OCI image to use instead of the skeleton image with
	// the host's /usr. It is never pulled.
	Image string
	// Tools finds what of the person's home commands of runs with a project have, and the
	// folders that are searched for programs. Nil finds nothing.
	Tools func() toolchain.Found `json:"-"`
	// Identity is the name and address for git where a repository says none.
	Identity Identity
	// Protector says what no command may change in a project that is mounted
	// itself.
	Protector Protector
	// Judge rules on what commands changed in their views; nil lets all pass.
	Judge Judge
	// Lock takes the lock of the project whose folder has a device and an inode,
	// which is held while something is applied to it. Nil means that nobody else
	// writes to projects.
	Lock   func(ctx context.Context, device, inode uint64) (unlock func(), err error) `json:"-"`
	Limits Limits

	// number is the manager's own among those that share Dir.
	number int
}

// Limits bound what one container may use. The zero value of a field means its
// default.
type Limits struct {
	// Memory is in bytes, swap included. Default 2 GB.
	Memory int64
	// CPUs may be a fraction. Default half of the host's, at least one.
	CPUs float64
	// Pids counts processes and threads. Default 512.
	Pids int64
	// Tmp is the size of /tmp in bytes. Default 64 MB.
	Tmp int64
	// FileSize is the largest file a command may write, in bytes. Default
	// 1 GB.
	FileSize int64
	// OpenFiles is per process. Default 4096.
	OpenFiles int64
	// Quota is what a run's home and private workspace may hold, in bytes. It
	// is watched, not enforced; see [Overflow]. Default 5 GB; below zero
	// nothing is watched.
	Quota int64
}

const (
	mib = 1 << 20
	gib = 1 << 30
)

// Defaults and bounds of a [Command].
const (
	DefaultTimeout   = 2 * time.Minute
	MaxTimeout       = 10 * time.Minute
	DefaultStdoutCap = 10 * mib
	DefaultStderrCap = 1 * mib
)

// WithDefaults fills what is zero.
func (l Limits) WithDefaults() Limits {
	l.Memory = cmp.Or(l.Memory, 2*gib)
	l.CPUs = cmp.Or(l.CPUs, max(1, float64(runtime.NumCPU())/2))
	l.Pids = cmp.Or(l.Pids, 512)
	l.Tmp = cmp.Or(l.Tmp, 64*mib)
	l.FileSize = cmp.Or(l.FileSize, 1*gib)
	l.OpenFiles = cmp.Or(l.OpenFiles, 4096)
	l.Quota = cmp.Or(l.Quota, 5*gib)
	return l
}

func (l Limits) check() error {
	for name, v := range map[string]int64{"memory": l.Memory, "pids": l.Pids, "tmp": l.Tmp,
		"file_size": l.FileSize, "open_files": l.OpenFiles} {
		if v < 0 {
			return invalid(fmt.Sprintf("sandbox limit %s is negative: %d", name, v))
		}
	}
	if l.CPUs < 0 {
		return invalid(fmt.Sprintf("sandbox limit cpus is negative: %g", l.CPUs))
	}
	return nil
}

var instanceName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,62}$`)

// complete checks the configuration and fills its defaults.
func (c Config) complete() (Config, error) {
	if !filepath.IsAbs(c.Dir) || !filepath.IsAbs(c.StateDir) || !filepath.IsAbs(c.Runner) {
		return c, invalid("the sandbox needs absolute paths for its directory, its state and the runner")
	}
	c.Dir, c.StateDir = filepath.Clean(c.Dir), filepath.Clean(c.StateDir)
	if len(c.Dir) > maxDir {
		return c, invalid(fmt.Sprintf("sandbox directory %s is %d bytes long; socket paths allow %d: set a shorter XDG_RUNTIME_DIR",
			c.Dir, len(c.Dir), maxDir))
	}
	if !instanceName.MatchString(c.Instance) {
		return c, invalid(fmt.Sprintf("sandbox instance name %q must be letters, digits, dots, dashes and underscores", c.Instance))
	}
	if c.Protector == nil {
		return c, invalid("the sandbox needs to know what no command may change in a project")
	}
	for _, p := range c.Protector.Paths() {
		if !filepath.IsLocal(p) || filepath.Clean(p) != p || p == "." {
			return c, invalid(fmt.Sprintf("protected path %q must lie inside the project", p))
		}
	}
	c.Runtime = cmp.Or(c.Runtime, "auto")
	if err := c.Limits.check(); err != nil {
		return c, err
	}
	c.Limits = c.Limits.WithDefaults()
	return c, nil
}

// Identity is who git says wrote something. Either may be empty.
type Identity struct{ Name, Email string }

// searchPath is the PATH of commands: the folders that were found, in order, then the
// usual ones.
func searchPath(dirs []string) string {
	dirs = slices.Clone(dirs)
	for _, dir := range []string{"/usr/local/go/bin", "/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"} {
		if !slices.Contains(dirs, dir) && (dir != "/usr/local/go/bin" || isFolder(dir)) {
			dirs = append(dirs, dir)
		}
	}
	return strings.Join(dirs, ":")
}
