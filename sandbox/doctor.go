package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
)

// The levels of a [Finding].
const (
	LevelOK   = "ok"
	LevelWarn = "warn"
	LevelFail = "fail"
)

// Finding is one thing that [Check] looked at.
type Finding struct {
	Name   string `json:"name"`
	Level  string `json:"level"`
	Detail string `json:"detail"`
	// Hint says what to do about it; empty when all is well.
	Hint string `json:"hint,omitempty"`
}

// Check tells whether commands can run here, in a project, and what they would lack:
// where all looks well one is run that changes nothing. Nothing stays of what that makes,
// and a manager may be open. Without a project none is run.
func Check(ctx context.Context, cfg Config, project string, logger hclog.Logger) []Finding {
	var out []Finding
	add := func(name, level, detail, hint string) {
		out = append(out, Finding{Name: name, Level: level, Detail: detail, Hint: hint})
	}
	if runtime.GOOS != "linux" {
		add("system", LevelFail, "containers need Linux, and this is "+runtime.GOOS, "run Bothy on Linux, or in a Linux virtual machine")
		return out
	}
	if os.Geteuid() == 0 {
		add("user", LevelFail, "commands do not run as root", hintRootless)
		return out
	}
	add("user", LevelOK, "an ordinary user", "")
	cfg, err := cfg.complete()
	if err != nil {
		add("configuration", LevelFail, err.Error(), "correct the sandbox block of the configuration")
		return out
	}
	if _, err := hashFile(cfg.Runner); err != nil {
		add("runner", LevelFail, err.Error(), hintReinstall)
	} else {
		add("runner", LevelOK, cfg.Runner, "")
	}
	out = append(out, namespacesFinding("/proc"))
	var view Finding
	info, detail, err := hostOf(ctx, cfg, logger, func(p *podman, at Config) { view = viewFinding(ctx, p, cfg, at, logger) })
	if err != nil {
		e, ok := errors.AsType[*Error](err)
		if !ok {
			e = &Error{Message: err.Error()}
		}
		add("podman", LevelFail, (&Error{Message: e.Message, Err: e.Err}).Error(), e.Hint)
	} else {
		add("podman", LevelOK, detail, "")
		out = append(append(out, findings(info)...), view)
	}
	failed := slices.ContainsFunc(out, func(f Finding) bool { return f.Level == LevelFail })
	if project != "" && !failed {
		out = append(out, commandFinding(ctx, cfg, project, logger))
	}
	return append(out, quotaFinding(cfg), toolsFinding(cfg))
}

// viewFinding tries what views need, apart from a project and a container. At has
// the folders to try in, which need not be those that the configuration names.
func viewFinding(ctx context.Context, p *podman, cfg, at Config, logger hclog.Logger) Finding {
	none := func(reason, hint string) Finding {
		reason = strings.NewReplacer(at.StateDir, cfg.StateDir, at.Dir, cfg.Dir).Replace(reason)
		return Finding{Name: "view", Level: LevelWarn, Detail: "commands work on the projects themselves, not on views of them: " + reason, Hint: hint}
	}
	const hint = "run podman unshare true as this user to see what it lacks"
	v, err := startViewer(ctx, p.own, at, logger)
	if e, ok := errors.AsType[*Error](err); ok {
		return none((&Error{Message: e.Message, Err: e.Err}).Error(), cmp.Or(e.Hint, hint))
	}
	if err != nil {
		return none(err.Error(), hint)
	}
	defer v.close()
	found, err := v.probe(ctx, "", at.uppers())
	if err != nil {
		return none(err.Error(), hint)
	}
	if found.Dir == "" {
		return none(found.Reason, "use Linux 5.11 or later, and keep Bothy's data on a file system that overlays can write to (ext4, xfs, btrfs)")
	}
	tried := strings.NewReplacer(pairs(at.uppers(), cfg.uppers())...).Replace(strings.Join(found.Tried, "; "))
	return Finding{Name: "view", Level: LevelOK, Detail: fmt.Sprintf("commands work on views of their projects (Linux %s, in the mounts that Podman's containers come from); "+
		"overlays with their changes, folders of mode 000 and attributes of users were tried in %s; %s are free in the first", kernelRelease(), tried, size(found.Free))}
}

// pairs are the elements of two lists in turns.
func pairs(a, b []string) (all []string) {
	for i := range a {
		all = append(all, a[i], b[i])
	}
	return all
}

// quotaFinding says what is watched, and that it is only that.
func quotaFinding(cfg Config) Finding {
	f := Finding{Name: "quota", Level: LevelOK, Detail: "off: what a run's home and private workspace hold is not watched"}
	if cfg.Limits.Quota > 0 {
		f.Detail = size(cfg.Limits.Quota) + " for a run's home and private workspace, watched and not enforced"
	}
	return f
}

// hostOf asks Podman about its host the way Open would find it. Try is called while
// that Podman answers, with a configuration whose folders are there.
func hostOf(ctx context.Context, cfg Config, logger hclog.Logger, try func(*podman, Config)) (hostInfo, string, error) {
	if _, err := os.Lstat(cfg.Dir); err == nil {
		if err := makePrivate(cfg.Dir); err != nil {
			return hostInfo{}, "", err
		}
	}
	socket := strings.TrimPrefix(cfg.Socket, "unix://")
	if socket == "" {
		socket = usersSocket(ctx, cfg)
	}
	if socket != "" {
		p := &podman{logger: logger, socket: socket}
		if err := p.open(ctx); err != nil {
			return hostInfo{}, "", unavailable("the Podman socket "+socket+" does not answer", "start it (systemctl --user start podman.socket)", err)
		}
		defer p.close()
		if err := p.check(ctx); err != nil {
			return hostInfo{}, "", err
		}
		info, err := p.host(ctx)
		if at, remove, asideErr := cfg.aside(); err == nil && asideErr == nil {
			try(p, at)
			remove()
		}
		return info, "service at " + socket, err
	}
	binary, err := findBinary(ctx, cfg)
	if err != nil {
		return hostInfo{}, "", err
	}
	names := runtimes(cfg.Runtime)
	if len(names) == 0 {
		return hostInfo{}, "", unavailable("there is no OCI runtime", "install runc or crun (Debian: sudo apt-get install runc)", nil)
	}
	cfg, remove, err := cfg.aside()
	if err != nil {
		return hostInfo{}, "", failed("make folders to ask Podman in", err)
	}
	defer remove()
	var info hostInfo
	_, err = firstThatWorks(names, logger, func(name, driver string) error {
		s, err := newService(cfg, binary, name, driver, logger)
		if s != nil {
			defer s.endIdlePause()
		}
		if err == nil {
			info, err = s.info(ctx)
		}
		if err == nil {
			try(&podman{logger: logger, own: s}, cfg)
		}
		return err
	})
	return info, fmt.Sprintf("%s %s, a service of Bothy's own", binary, info.Version.Version), err
}

// aside gives Podman other folders to write in, which the caller removes, as long
// as a daemon has not made its own: looking makes nothing. They are on the same
// file system, as far as that can be written to, for the storage depends on it.
func (c Config) aside() (_ Config, remove func(), err error) {
	if isFolder(c.Dir) && isFolder(c.StateDir) {
		return c, func() {}, nil
	}
	return c.apart()
}

// apart gives a manager folders of its own, on the same file systems.
func (c Config) apart() (_ Config, remove func(), err error) {
	near := c.StateDir
	c.StateDir, err = os.MkdirTemp(near, ".bothy-doctor-")
	for err != nil && near != filepath.Dir(near) {
		near = filepath.Dir(near)
		c.StateDir, err = os.MkdirTemp(near, ".bothy-doctor-")
	}
	if err != nil {
		return c, nil, err
	}
	if c.Dir, err = os.MkdirTemp("/tmp", "bothy-doctor-"); err != nil { // a short path, for the sockets
		return c, nil, errors.Join(err, os.Remove(c.StateDir))
	}
	return c, func() {
		for _, dir := range []string{c.StateDir, c.Dir} {
			if root, err := os.OpenRoot(filepath.Dir(dir)); err == nil {
				_ = removeTree(root, filepath.Base(dir))
				_ = root.Close()
			}
		}
	}, nil
}

func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// findings judges what Podman tells about its host.
func findings(info hostInfo) []Finding {
	out := []Finding{
		{Name: "rootless", Level: LevelOK, Detail: "containers run without root"},
		{Name: "subuids", Level: LevelOK, Detail: fmt.Sprintf("%d ids", mappedIDs(info))},
		limitsFinding(info),
		{Name: "storage", Level: LevelOK, Detail: info.Store.Driver},
		{Name: "runtime", Level: LevelOK, Detail: info.Host.OCIRuntime.Name + " at " + info.Host.OCIRuntime.Path},
	}
	if !info.Host.Security.Rootless {
		out[0] = Finding{Name: "rootless", Level: LevelFail, Detail: "this Podman runs as root", Hint: hintRootless}
	}
	if n := mappedIDs(info); n < 1001 {
		out[1] = Finding{Name: "subuids", Level: LevelFail, Detail: fmt.Sprintf("the user has %d ids for a container, too few", n), Hint: fmt.Sprintf(hintSubuids, userName())}
	}
	if info.Store.Driver == "vfs" {
		out[3].Level, out[3].Hint = LevelWarn, "vfs copies every image: use a file system or kernel with native overlay"
	}
	out = append(out, networkFinding(info))
	if !info.Host.Security.Seccomp {
		out = append(out, Finding{Name: "seccomp", Level: LevelFail, Detail: "Podman has no seccomp here", Hint: hintSeccomp})
	}
	return out
}

// limitsFinding says whether the host enforces memory, processor and process
// limits on rootless containers.
func limitsFinding(info hostInfo) Finding {
	const floor = "; rlimits are the floor: processes, memory and file size of each process"
	f := Finding{Name: "limits", Level: LevelOK, Detail: "cgroup " + info.Host.CgroupVersion + " by " + info.Host.CgroupManager}
	if info.Host.CgroupVersion != "v2" {
		f.Level, f.Detail = LevelWarn, f.Detail+": memory, processor and process limits are not enforced"+floor
		f.Hint = "boot with cgroup v2 (systemd.unified_cgroup_hierarchy=1)"
		return f
	}
	var missing []string
	for _, name := range []string{"memory", "cpu", "pids"} {
		if !slices.Contains(info.Host.CgroupControllers, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		f.Level, f.Detail = LevelWarn, f.Detail+": not delegated to the user: "+strings.Join(missing, ", ")+floor
		f.Hint = "delegate them: a drop-in for user@.service with Delegate=cpu memory pids"
	}
	return f
}

// toolsFinding names what of the person's home commands have, and the folders of the
// search path that they do not see.
func toolsFinding(cfg Config) Finding {
	f := Finding{Name: "tools", Level: LevelOK, Detail: "programs below /usr"}
	found := newHomeTools(cfg.Tools).now()
	if cfg.Image != "" {
		f.Detail = "what the image " + cfg.Image + " has"
	} else if len(found.Names) > 0 {
		f.Detail += fmt.Sprintf("; of your home, read-only: %s (%s)", strings.Join(found.Names, ", "), strings.Join(append(slices.Clone(found.Shown), found.Caches...), ", "))
	}
	if hidden := found.Unseen; cfg.Image == "" && len(hidden) > 0 {
		f.Level, f.Detail = LevelWarn, f.Detail+"; not visible in the sandbox: "+strings.Join(hidden, ", ")
		f.Hint = "install what a command needs below /usr, or name an image that has it"
	}
	return f
}

func mappedIDs(info hostInfo) int64 {
	var n int64
	for _, m := range info.Host.IDMappings.UIDMap {
		n += m.Size
	}
	return n
}
