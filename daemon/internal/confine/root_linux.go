package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// newRoot is where a root of its own is put together. Every system has the
// folder, and only this process sees what becomes of it.
const newRoot = "/tmp"

// Apart starts a process of cmd in a user and a mount namespace of its own, in
// which the shim may mount. The user stays who it is.
func Apart(attr *syscall.SysProcAttr) {
	attr.Cloneflags |= unix.CLONE_NEWUSER | unix.CLONE_NEWNS
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
}

// roots reports whether a process can have a root of its own here. It asks by
// letting the shim make one.
func roots(shim string) bool {
	cmd := exec.Command(shim, "probe")
	cmd.Env, cmd.SysProcAttr = []string{}, &syscall.SysProcAttr{}
	Apart(cmd.SysProcAttr)
	return cmd.Run() == nil
}

// Probe is what the shim does for roots.
func Probe() error { return enter(Spec{}) }

// mount is one thing of the machine's that a process finds in its root.
type mount struct {
	path     string
	source   int // its descriptor, which executing closes
	folder   bool
	readOnly bool
}

// enter gives the process a root in which there is only what it may use: a
// socket of another program, for one, has no name there. Landlock still rules
// over what there is.
func enter(spec Spec) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make a root of its own: %w", err)
	}
	mounts, links, err := contents(spec)
	if err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", newRoot, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=1m"); err != nil {
		return fmt.Errorf("make a root of its own: %w", err)
	}
	for path, target := range links {
		if err := errors.Join(os.MkdirAll(newRoot+filepath.Dir(path), 0o755), os.Symlink(target, newRoot+path)); err != nil {
			return err
		}
	}
	for _, m := range mounts {
		if err := m.attach(); err != nil {
			return fmt.Errorf("put %s into a root of its own: %w", m.path, err)
		}
	}
	if err := os.MkdirAll(newRoot+newRoot, 0o755); err != nil {
		return err
	}
	if err := protect(newRoot, 0, unix.MOUNT_ATTR_RDONLY); err != nil {
		return err
	}
	return move()
}

// contents are the things of the machine's, parents before what lies in them,
// and the symbolic links between them.
func contents(spec Spec) ([]mount, map[string]string, error) {
	links := map[string]string{"/dev/fd": "/proc/self/fd", "/dev/stdin": "/proc/self/fd/0", "/dev/stdout": "/proc/self/fd/1", "/dev/stderr": "/proc/self/fd/2"}
	var mounts []mount
	for _, group := range []struct {
		paths           []string
		readOnly, named bool
	}{
		{system, true, false}, {devices, false, false}, {[]string{"/proc"}, false, true}, {seenElsewhere(), true, false},
		{spec.Read, true, true}, {spec.Write, false, true},
	} {
		for _, path := range group.paths {
			path = filepath.Clean(path)
			if target, err := os.Readlink(path); err == nil && !group.named && strings.HasPrefix(target, "usr/") {
				links[path] = target
				continue
			}
			fd, err := spec.open(path)
			if err != nil && !group.named {
				continue
			}
			if err != nil {
				return nil, nil, &fs.PathError{Op: "allow", Path: path, Err: err}
			}
			var st unix.Stat_t
			if err := unix.Fstat(fd, &st); err != nil {
				return nil, nil, &fs.PathError{Op: "allow", Path: path, Err: err}
			}
			m := mount{path: path, source: fd, folder: st.Mode&unix.S_IFMT == unix.S_IFDIR, readOnly: group.readOnly}
			mounts = append(mounts, m)
			// Programs also ask for the name without links.
			if full, err := filepath.EvalSymlinks(path); err == nil && full != path && group.named {
				m.path = full
				mounts = append(mounts, m)
			}
		}
	}
	slices.SortStableFunc(mounts, func(a, b mount) int { return strings.Compare(a.path, b.path) })
	return mounts, links, nil
}

// seenElsewhere is what lies neither in /proc, which is there whole, nor has a
// mount of its own.
func seenElsewhere() []string {
	return slices.DeleteFunc(slices.Clone(seen), func(path string) bool { return strings.HasPrefix(path, "/proc/") })
}

// attach mounts it at its name in the new root.
func (m mount) attach() error {
	target := newRoot + m.path
	if _, err := os.Lstat(target); err != nil {
		if err := m.place(target); err != nil {
			return err
		}
	}
	if err := unix.Mount(fmt.Sprintf("/proc/self/fd/%d", m.source), target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	var attr uint64 = unix.MOUNT_ATTR_NOSUID
	if m.readOnly {
		attr |= unix.MOUNT_ATTR_RDONLY
	}
	return protect(target, unix.AT_RECURSIVE, attr)
}

// place makes what a mount is put onto.
func (m mount) place(target string) error {
	if m.folder {
		return os.MkdirAll(target, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	return os.WriteFile(target, nil, 0o644)
}

func protect(path string, flags uint, attr uint64) error {
	return unix.MountSetattr(unix.AT_FDCWD, path, flags, &unix.MountAttr{Attr_set: attr})
}

// move makes the new root the root, and the old one unreachable.
func move() error {
	if err := unix.Chdir(newRoot); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("make a root of its own: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil { // the old one lies upon the new one
		return fmt.Errorf("make a root of its own: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	return surrender()
}

// surrender gives up what only mounting needed: the plugin is to have no
// capability, not even in a namespace of its own.
func surrender() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return nil // executing takes the rest away
	}
	const noRoot = 1<<0 | 1<<1 // SECBIT_NOROOT, locked
	return unix.Prctl(unix.PR_SET_SECUREBITS, noRoot, 0, 0, 0)
}
