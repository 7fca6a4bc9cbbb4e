package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sandbox/frame"
)

// probe finds out by trying whether views of a project are possible, and in which
// of some folders they may be kept. Nothing is left anywhere, and nothing in the
// project is touched. Without a project only the folders are tried, and all of them.
func probe(path string, dirs []string) (frame.ViewProbed, error) {
	if reason := elsewhere(); reason != "" {
		return frame.ViewProbed{Reason: reason}, nil
	}
	project := none
	if path != "" {
		var err error
		if project, err = openPath(path, unix.O_RDONLY, unix.RESOLVE_NO_SYMLINKS|unix.RESOLVE_NO_MAGICLINKS); err != nil {
			return frame.ViewProbed{Reason: "the project cannot be opened: " + because(err)}, nil
		}
		defer project.close()
		if err := suits(path, project); err != nil {
			return frame.ViewProbed{Reason: err.Error()}, nil
		}
	}
	var p frame.ViewProbed
	for _, dir := range dirs {
		one, err := try(dir, project)
		if err != nil {
			p.Tried = append(p.Tried, dir+": "+err.Error())
			continue
		}
		p.Tried = append(p.Tried, dir+": it works")
		if p.Dir == "" {
			p.Dir, p.Copied, p.Free = dir, one.Copied, one.Free
		}
		if project != none {
			break
		}
	}
	if p.Dir != "" {
		return p, nil
	}
	p.Reason = "there is no folder that changes can be kept in: " + strings.Join(p.Tried, "; ")
	return p, nil
}

// because is the reason in an error, without the call and the path.
func because(err error) string {
	if e, ok := errors.AsType[unix.Errno](err); ok {
		return e.Error()
	}
	return err.Error()
}

// elsewhere is the reason when what this process mounts does not come to Podman's
// containers, as far as can be known without one.
func elsewhere() string {
	data, err := os.ReadFile(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "libpod", "tmp", "pause.pid"))
	if err != nil {
		return "" // where Podman keeps no such file a container tells
	}
	theirs, err := os.Readlink("/proc/" + strings.TrimSpace(string(data)) + "/ns/mnt")
	if err != nil {
		return "" // it has ended, and containers keep its namespace
	}
	if mine, err := os.Readlink("/proc/self/ns/mnt"); err != nil || mine != theirs {
		return "Podman gave the helper another mount namespace than its containers have"
	}
	return ""
}

// unsuited are file systems on which files cannot be exchanged, or that are no
// file systems to work on.
var unsuited = map[int64]string{
	unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB", unix.SMB2_SUPER_MAGIC: "SMB", unix.CIFS_SUPER_MAGIC: "SMB",
	unix.MSDOS_SUPER_MAGIC: "FAT", unix.EXFAT_SUPER_MAGIC: "exFAT", unix.FUSE_SUPER_MAGIC: "FUSE", unix.V9FS_MAGIC: "9P",
	unix.PROC_SUPER_MAGIC: "proc", unix.SYSFS_MAGIC: "sysfs",
}

// suits looks at a project without trying anything.
func suits(path string, project folder) error {
	all, err := mounts()
	if err != nil {
		return err
	}
	for _, m := range all {
		if inside(m.Point, path) {
			return fmt.Errorf("%s is mounted inside the project: a view would not show what is in it", m.Point)
		}
	}
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(project), &st); err != nil {
		return err
	}
	if name := unsuited[int64(uint32(st.Type))]; name != "" {
		return fmt.Errorf("the project lies on %s, where what a command changed could not be exchanged for what is there", name)
	}
	err = unix.Faccessat(int(project), ".", unix.W_OK|unix.X_OK, 0)
	switch {
	case st.Flags&unix.ST_RDONLY != 0 || errors.Is(err, unix.EROFS):
		return errors.New("the project lies on a file system that is mounted read-only")
	case err != nil:
		return errors.New("the project's folder may not be written to")
	}
	return nil
}

// least is how many bytes must be free where changes are kept.
const least = 64 << 20

// try tries one folder. One that is not there is made for that, if the folder that
// it would lie in is there.
func try(path string, project folder) (p frame.ViewProbed, err error) {
	err = unix.Mkdir(path, 0o700)
	if err == nil {
		defer func() { _ = unix.Rmdir(path) }()
	} else if !errors.Is(err, unix.EEXIST) {
		return p, errors.New(because(err))
	}
	dir, err := openPath(path, unix.O_RDONLY, 0)
	if err != nil {
		return p, errors.New(because(err))
	}
	defer dir.close()
	if err := own(dir); err != nil {
		return p, err
	}
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(dir), &st); err != nil {
		return p, errors.New(because(err))
	}
	if p.Free = int64(st.Bavail) * st.Bsize; p.Free < least && st.Blocks > 0 { // without any blocks it is memory without bounds
		return p, fmt.Errorf("it has %d MB free", p.Free>>20)
	}
	if project != none {
		if err := separate(dir, project); err != nil {
			return p, err
		}
	}
	err = inScratch(path, func(s *scratch) error { return s.try(project, &p) })
	return p, err
}

// own refuses a folder in which somebody else could put something.
func own(dir folder) error {
	n, err := dir.node(".")
	if err != nil {
		return err
	}
	if n.UID != 0 || n.Mode&0o022 != 0 {
		return errors.New("it is not yours alone")
	}
	return nil
}

// separate refuses a folder inside of the project, and one that it lies in.
func separate(dir, project folder) error {
	if is, err := liesIn(dir, project); err != nil || is {
		return errors.Join(err, errors.New("it lies inside the project"))
	}
	if is, err := liesIn(project, dir); err != nil || is {
		return errors.Join(err, errors.New("the project lies inside of it"))
	}
	return nil
}

// scratch is a folder for trying, which goes when that is over.
type scratch struct {
	dir   folder
	point string // where overlays are mounted
}

func inScratch(path string, try func(*scratch) error) (err error) {
	top, err := os.MkdirTemp(path, ".probe-")
	if err != nil {
		return errors.New(because(err))
	}
	s := &scratch{dir: none, point: filepath.Join(top, "m")}
	defer func() {
		_ = unix.Unmount(s.point, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
		s.dir.close()
		if removeErr := remove(top); err == nil && removeErr != nil {
			err = fmt.Errorf("what was tried cannot be removed: %w", removeErr)
		}
	}()
	if s.dir, err = openPath(top, unix.O_RDONLY, 0); err != nil {
		return errors.New(because(err))
	}
	return try(s)
}

func (s *scratch) try(project folder, p *frame.ViewProbed) error {
	for _, name := range []string{"m", "l", "l/gone", "u", "w", "t"} {
		if err := unix.Mkdirat(int(s.dir), name, 0o700); err != nil {
			return errors.New(because(err))
		}
	}
	lower, err := s.dir.open("l", unix.O_PATH)
	if err != nil {
		return err
	}
	defer lower.close()
	for _, name := range []string{"l/f", "l/g", "l/h", "l/gone/f"} {
		if err := s.dir.write(name, "before"); err != nil {
			return errors.New(because(err))
		}
	}
	if err := s.overlay(lower, 0); err != nil {
		return fmt.Errorf("the kernel mounts no overlay with its changes there: %s", because(err))
	}
	if err := s.deeds(); err != nil {
		return err
	}
	if err := unix.Unmount(s.point, unix.UMOUNT_NOFOLLOW); err != nil {
		return fmt.Errorf("the overlay cannot be unmounted: %s", because(err))
	}
	if err := s.left(); err != nil {
		return err
	}
	if project == none {
		return nil
	}
	if err := removeAt(s.dir, "w"); err != nil {
		return fmt.Errorf("what the kernel leaves cannot be removed: %s", because(err))
	}
	if err := unix.Mkdirat(int(s.dir), "w", 0o700); err != nil {
		return err
	}
	if err := s.overlay(project, unix.MS_RDONLY); err != nil {
		return fmt.Errorf("the kernel mounts no overlay of the project: %s", because(err))
	}
	if err := unix.Unmount(s.point, unix.UMOUNT_NOFOLLOW); err != nil {
		return fmt.Errorf("the overlay of the project cannot be unmounted: %s", because(err))
	}
	p.Copied, err = s.across(project)
	return err
}

// overlay mounts one as a view is mounted.
func (s *scratch) overlay(lower folder, flags uintptr) error {
	upper, err := s.dir.open("u", unix.O_PATH)
	if err != nil {
		return err
	}
	defer upper.close()
	work, err := s.dir.open("w", unix.O_PATH)
	if err != nil {
		return err
	}
	defer work.close()
	return unix.Mount(frame.ViewSource, s.point, "overlay", flags|unix.MS_NOSUID|unix.MS_NODEV, layers(lower.proc(), upper, work))
}

// deeds does in the overlay what commands do.
func (s *scratch) deeds() error {
	m, err := openPath(s.point, unix.O_PATH, 0)
	if err != nil {
		return err
	}
	defer m.close()
	at := int(m)
	for _, d := range []struct {
		what string
		do   func() error
	}{
		{"make a file", func() error { return m.write("n", "after") }},
		{"write over a file", func() error { return m.write("f", "after") }},
		{"remove a file", func() error { return unix.Unlinkat(at, "g", 0) }},
		{"remove a folder", func() error { return removeAt(m, "gone") }},
		{"make a folder anew", func() error { return unix.Mkdirat(at, "gone", 0o700) }},
		{"find that folder empty", func() error { return m.empty("gone") }},
		{"rename a file", func() error { return unix.Renameat(at, "h", at, "renamed") }},
		{"attach something to a file", func() error { return unix.Lsetxattr(m.proc()+"/n", "user.bothy", []byte("x"), 0) }},
		{"close a folder", func() error {
			return errors.Join(unix.Mkdirat(at, "closed", 0o700), unix.Fchmodat(at, "closed", 0, 0))
		}},
		{"remove it", func() error { return unix.Unlinkat(at, "closed", unix.AT_REMOVEDIR) }},
	} {
		if err := d.do(); err != nil {
			return fmt.Errorf("in an overlay with its changes there, one cannot %s: %s", d.what, because(err))
		}
	}
	return nil
}

// left looks whether the overlay's changes are written as they are read later, and
// can be exchanged.
func (s *scratch) left() error {
	upper, err := s.dir.open("u", unix.O_PATH)
	if err != nil {
		return err
	}
	defer upper.close()
	gone, err := upper.node("g")
	if err != nil || gone.Kind != kindWhiteout {
		return errors.Join(err, errors.New("what an overlay says of a removed file is not understood"))
	}
	opaque, err := upper.opaque("gone")
	if err != nil || !opaque {
		return errors.Join(err, errors.New("what an overlay says of a folder made anew is not understood"))
	}
	before, err := upper.node("f")
	if err != nil {
		return err
	}
	if err := unix.Renameat2(int(upper), "f", int(s.dir), "l/f", unix.RENAME_EXCHANGE); err != nil {
		return fmt.Errorf("files cannot be exchanged there: %s", because(err))
	}
	lower, err := s.dir.open("l", unix.O_PATH)
	if err != nil {
		return err
	}
	defer lower.close()
	if after, err := lower.node("f"); err != nil || after.Inode != before.Inode {
		return errors.Join(err, errors.New("a file that is exchanged becomes another file there"))
	}
	return nil
}

// across finds out whether files can be renamed into the project: one without a
// name is made there and gets a name here.
func (s *scratch) across(project folder) (copied bool, err error) {
	far, err := apart(s.dir, project)
	if err != nil || far {
		return far, err
	}
	fd, err := unix.Openat(int(project), ".", unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EISDIR) {
		return false, nil // the file system has no such files
	}
	if err != nil {
		return false, fmt.Errorf("no file can be made in the project: %s", because(err))
	}
	defer folder(fd).close()
	if err := unix.Linkat(unix.AT_FDCWD, folder(fd).proc(), int(s.dir), "t/across", unix.AT_SYMLINK_FOLLOW); err != nil {
		return false, fmt.Errorf("files cannot be renamed between it and the project: %s", because(err))
	}
	return false, nil
}

// write makes a file, or writes over it.
func (f folder) write(name, text string) error {
	fd, err := unix.Openat(int(f), name, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	defer folder(fd).close()
	_, err = unix.Write(fd, []byte(text))
	return err
}

func (f folder) empty(name string) error {
	inner, err := f.open(name, unix.O_PATH)
	if err != nil {
		return err
	}
	defer inner.close()
	if names, err := inner.entries(1); err != nil || len(names) > 0 {
		return errors.Join(err, errors.New("what was in it before is still there"))
	}
	return nil
}
