package sandbox

import (
	"errors"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// deepest is how far down folders are looked into: each costs a descriptor.
	deepest = 256
	// mostEntries bounds one look.
	mostEntries = 1 << 20
)

// diskUse adds up what folders hold. It is bounded in time, depth and entries:
// the sum is at least what is there. Links are not followed, and it may be called
// while a command changes what it looks at.
type diskUse struct {
	stop  func() bool
	until time.Time

	bytes   int64
	entries int
	linked  map[[2]uint64]bool // inodes with several names, counted once
}

func (d *diskUse) add(folder string) {
	fd, err := unix.Open(folder, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == nil {
		d.folder(os.NewFile(uintptr(fd), folder), 0)
	}
}

// done says whether this look has come to its bounds.
func (d *diskUse) done() bool {
	return d.entries >= mostEntries || d.entries%256 == 0 && (d.stop() || time.Now().After(d.until))
}

// folder takes the descriptor over.
func (d *diskUse) folder(f *os.File, depth int) {
	defer func() { _ = f.Close() }()
	for {
		names, err := f.Readdirnames(256)
		for _, name := range names {
			d.entries++
			if d.done() {
				return
			}
			d.entry(int(f.Fd()), name, depth)
		}
		if err != nil || len(names) == 0 {
			return // io.EOF, or it can be read no further
		}
	}
}

func (d *diskUse) entry(parent int, name string, depth int) {
	var st unix.Stat_t
	if unix.Fstatat(parent, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return
	}
	isFolder := st.Mode&unix.S_IFMT == unix.S_IFDIR
	if !isFolder && st.Nlink > 1 {
		if d.linked == nil {
			d.linked = make(map[[2]uint64]bool)
		}
		id := [2]uint64{st.Dev, st.Ino}
		if d.linked[id] {
			return
		}
		d.linked[id] = true
	}
	d.bytes += st.Blocks * 512
	if isFolder && depth < deepest {
		if f, err := openFolder(parent, name, st.Mode&0o7777); err == nil {
			d.folder(f, depth+1)
		}
	}
}

// openFolder opens one that may be closed to its owner: for a moment it is not.
func openFolder(parent int, name string, mode uint32) (*os.File, error) {
	const flags = unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(parent, name, unix.O_RDONLY|flags, 0)
	if err == nil && mode&0o500 == 0o500 || err != nil && !errors.Is(err, unix.EACCES) {
		return file(fd, err)
	}
	if err == nil {
		_ = unix.Close(fd)
	}
	at, err := unix.Openat(parent, name, unix.O_PATH|flags, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(at) }()
	path := "/proc/self/fd/" + strconv.Itoa(at)
	if err := unix.Chmod(path, mode|0o500); err != nil {
		return nil, err
	}
	return file(unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0))
}

func file(fd int, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "folder"), nil
}

// freeBytes is what an ordinary user may still write where a folder is, or -1.
func freeBytes(folder string) int64 {
	var st unix.Statfs_t
	if unix.Statfs(folder, &st) != nil {
		return -1
	}
	return int64(st.Bavail) * st.Bsize
}
