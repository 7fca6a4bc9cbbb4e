package sandbox

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/sandbox/frame"
)

// RunSpec says for which run a command is, and where that run's files are.
type RunSpec struct {
	// RunID names the run; see [ValidRunID].
	RunID string
	// Project is the host directory at /workspace. Empty means a private
	// workspace below RunDir, which Reset empties.
	Project string
	// RunDir is the run's own host directory: home, skills, and what was
	// taken away from protected paths lie below it. It is made when missing.
	RunDir string
	// Limits replace the manager's when set.
	Limits *Limits
	// Network opens the network to the run's commands: all that the host
	// reaches, but not the host's loopback.
	Network bool
	// Direct mounts the project itself, also where a view is possible.
	Direct bool
	// Viewed refuses commands where no view of the project is possible, instead of
	// running them on the project itself.
	Viewed bool

	// Writes are globs of the only paths of the project that the command may change; empty is all. The [Judge] is
	// told, and holds what its view changed to it.
	Writes []string

	// slot is the folder that views of the project are mounted on; empty where
	// the project itself is mounted. views is where the views lie.
	slot, views string
	// beside is set of the container of a background command.
	beside *background
}

// Where things are inside a container.
const (
	Workspace = frame.Workspace
	Home      = frame.Home
	Skills    = frame.Skills

	socketMount = "/run/bothy"
	runnerMount = "/opt/bothy/runner"
)

var runID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$`)

// ValidRunID refuses everything that could mean something in a path, a label or
// a container's name. It is asked before any of them is built.
func ValidRunID(id string) error {
	if !runID.MatchString(id) || strings.Contains(id, "..") {
		shown := id
		if len(shown) > 40 {
			shown = shown[:40] + "..."
		}
		return invalid(fmt.Sprintf("run id %q is not valid: use 1 to 128 letters, digits, dots, dashes and underscores, beginning with a letter or digit", shown))
	}
	return nil
}

// checkNames refuses a run whose name or directory cannot be one.
func (r RunSpec) checkNames() error {
	if err := ValidRunID(r.RunID); err != nil {
		return err
	}
	if !filepath.IsAbs(r.RunDir) {
		return invalid(fmt.Sprintf("run directory %q is not an absolute path", r.RunDir))
	}
	return nil
}

func (r RunSpec) check() error {
	if err := r.checkNames(); err != nil {
		return err
	}
	if r.Limits != nil {
		if err := r.Limits.check(); err != nil {
			return err
		}
	}
	if r.Project == "" {
		return nil
	}
	if !filepath.IsAbs(r.Project) {
		return invalid(fmt.Sprintf("project directory %q is not an absolute path", r.Project))
	}
	if filepath.Clean(r.Project) == "/" {
		return invalid("the project of a sandbox cannot be the whole file system")
	}
	project, err := pinProject(r.Workspace())
	if err != nil {
		return err
	}
	return project.Close()
}

// Workspace is the host directory at /workspace.
func (r RunSpec) Workspace() string {
	if r.Project != "" {
		return filepath.Clean(r.Project)
	}
	return filepath.Join(r.RunDir, "workspace")
}

// place is where a run's files are.
type place struct{ runDir, project string }

func (r RunSpec) place() place { return place{r.RunDir, r.Project} }

func (r RunSpec) home() string   { return filepath.Join(r.RunDir, "home") }
func (r RunSpec) skills() string { return filepath.Join(r.RunDir, "skills") }

// makeDirs makes the host directories that the container mounts.
func (r RunSpec) makeDirs() error {
	dirs := []string{r.home(), r.skills(), filepath.Join(r.home(), "tmp"), filepath.Join(r.home(), ".cache")}
	if r.Project == "" {
		dirs = append(dirs, r.Workspace())
	}
	for _, dir := range dirs {
		if err := makeDir(dir); err != nil {
			return failed("make the run's directories", err)
		}
	}
	return nil
}

// makeDir makes a directory, also below one that a command closed to its owner,
// and opens that again.
func makeDir(dir string) error {
	if info, err := os.Lstat(dir); err == nil && info.IsDir() && info.Mode().Perm()&0o700 != 0o700 {
		return os.Chmod(dir, 0o700)
	}
	return os.MkdirAll(dir, 0o700)
}

// key is a short name for a run in paths and container names: run ids may be
// longer than a socket path allows.
func key(runID string) string {
	sum := sha256.Sum256([]byte(runID))
	return hex.EncodeToString(sum[:6])
}

// Command is one command for a run.
type Command struct {
	// Argv is the program and its arguments; there is no shell in between.
	Argv []string
	// Dir is absolute inside the container or relative to the workspace;
	// empty means the workspace.
	Dir string
	// Timeout is from the start of the command; zero means
	// [DefaultTimeout], and no more than [MaxTimeout] is given.
	Timeout time.Duration
	// StdoutCap and StderrCap are the bytes delivered per channel; zero
	// means the default. The rest is counted and dropped.
	StdoutCap, StderrCap int64
	// Call names the command for [Manager.Settle]: no two commands of a run
	// may have the same. Without one nobody can ask later how it ended.
	Call string
}

func (c Command) complete() (Command, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return c, invalid("the command is empty")
	}
	for _, arg := range append([]string{c.Dir}, c.Argv...) {
		if strings.ContainsRune(arg, 0) {
			return c, invalid("the command contains a NUL byte")
		}
	}
	if c.Timeout < 0 || c.StdoutCap < 0 || c.StderrCap < 0 {
		return c, invalid("timeout and output caps must not be negative")
	}
	c.Timeout = max(min(cmp.Or(c.Timeout, DefaultTimeout), MaxTimeout), time.Millisecond)
	c.StdoutCap, c.StderrCap = cmp.Or(c.StdoutCap, DefaultStdoutCap), cmp.Or(c.StderrCap, DefaultStderrCap)
	if !filepath.IsAbs(c.Dir) {
		c.Dir = filepath.Join(Workspace, c.Dir)
	}
	return c, nil
}

// Result is how a command ended. Its output went to the sink.
type Result struct {
	// ExitCode is the exit status, or 128 plus the signal.
	ExitCode int
	// Signal names the signal that ended the command, as in "SIGKILL".
	Signal   string
	TimedOut bool
	// Container is the short id of the container that the command ran in.
	Container string
	// Timeout is what the command was given.
	Timeout time.Duration
	// OOM says that the kernel killed something for want of memory: certain on
	// cgroup v2, likely on v1.
	OOM bool
	// Duration is of the command alone, without waiting for its turn or for
	// a container.
	Duration time.Duration
	// StdoutDropped and StderrDropped are the bytes beyond the caps.
	StdoutDropped, StderrDropped int64
	// Leftovers is how many background processes were killed when the
	// command returned.
	Leftovers int
	// Overflow is set when the run's files became too many by the command, or a
	// disk too full.
	Overflow *Overflow
	// Violations are changes to protected paths that were undone, or not applied.
	Violations []Violation

	// Direct is why the command worked on the project itself; empty where it worked
	// on a view, or in a private workspace.
	Direct string
	// Viewed says that the command worked on a view of the project: the members
	// below tell then of all that it changed.
	Viewed bool
	// Changes were applied to the project, in this order.
	Changes []Change
	// Held are changes that wait for an answer.
	Held []Held
	// Conflicts were not applied, since the person changed the same path.
	Conflicts []Conflict
	// Kept is where on the host all that the command changed lies when none of it
	// was applied, since the command was cut short.
	Kept string

	release func()
	folder  string // of the view
	// earlier are the folders of views whose changes are told late, with this result.
	earlier []string
}

// Release says that [Change.Old] of the result's changes is needed no more: the run's
// next command removes it. Without that it stays until the manager is closed.
func (r Result) Release() {
	if r.release != nil {
		r.release()
	}
}

// Retain says that [Change.Old] of the result's changes is all that is left of what was
// there: the folder that it lies in, which it returns, stays until the run is reset, and
// so do the folders of commands whose changes this result tells late. An
// error is that it stays only until the manager is closed. It needs no room on the disk.
// Release must not be called besides.
func (r Result) Retain() (folder string, err error) {
	for _, dir := range append(slices.Clone(r.earlier), r.folder) {
		if plan := filepath.Join(dir, planName); dir != "" && exists(plan) {
			err = errors.Join(err, os.Rename(plan, filepath.Join(dir, retainedName)))
			_ = os.Remove(filepath.Join(dir, lateName)) // it is told now
			folder = cmp.Or(folder, dir)
		}
	}
	return folder, err
}

// Sink takes a command's output as it comes: channel 1 is stdout, 2 is stderr.
// It is called from one goroutine; data is valid until it returns, and a slow
// sink slows the command.
type Sink func(channel int, data []byte)
