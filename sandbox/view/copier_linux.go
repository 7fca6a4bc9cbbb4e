package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sandbox/frame"
)

// copier copies files, folders and links; whatever else there is stays behind.
type copier struct {
	strip bool // what must not reach the project
}

func (c copier) copy(from folder, name string, to folder, as string) error {
	n, err := from.node(name)
	if err != nil {
		return err
	}
	switch n.Kind {
	case kindFile:
		err = c.file(from, name, to, as, n)
	case kindLink:
		err = unix.Symlinkat(n.Target, int(to), as)
	case kindDirectory:
		err = c.folder(from, name, to, as)
	default:
		return nil
	}
	if err != nil {
		return fmt.Errorf("copy %s: %w", name, err)
	}
	if n.Kind != kindLink {
		if err := c.attributes(from, name, to, as); err != nil {
			return fmt.Errorf("copy what is attached to %s: %w", name, err)
		}
		if c.strip && n.Kind == kindFile {
			n.Mode &^= unix.S_ISUID | unix.S_ISGID
		}
		if err := unix.Fchmodat(int(to), as, n.Mode, 0); err != nil { // what was just made
			return err
		}
	}
	times := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, unix.NsecToTimespec(n.Modified.UnixNano())}
	return unix.UtimesNanoAt(int(to), as, times, unix.AT_SYMLINK_NOFOLLOW)
}

func (c copier) folder(from folder, name string, to folder, as string) error {
	if err := unix.Mkdirat(int(to), as, 0o700); err != nil {
		return err
	}
	source, err := from.open(name, unix.O_PATH)
	if err != nil {
		return err
	}
	defer source.close()
	target, err := to.open(as, unix.O_PATH)
	if err != nil {
		return err
	}
	defer target.close()
	names, err := source.entries(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := c.copy(source, name, target, name); err != nil {
			return err
		}
	}
	return nil
}

// file copies a file with its holes.
func (c copier) file(from folder, name string, to folder, as string, n frame.ViewNode) error {
	source, err := from.file(name)
	if err != nil {
		return err
	}
	defer source.Close()
	fd, err := unix.Openat(int(to), as, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	target := os.NewFile(uintptr(fd), as)
	return errors.Join(copyData(source, target, n.Size), target.Close())
}

func copyData(source, target *os.File, size int64) error {
	for at := int64(0); at < size; {
		begin, err := source.Seek(at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			break
		}
		if err != nil {
			return err
		}
		end, err := source.Seek(begin, unix.SEEK_HOLE)
		if err != nil {
			return err
		}
		if _, err := source.Seek(begin, io.SeekStart); err != nil {
			return err
		}
		if _, err := target.Seek(begin, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.CopyN(target, source, end-begin); err != nil {
			return err
		}
		at = end
	}
	return target.Truncate(size)
}

// attributes copies what the user attached, as far as it can be attached there.
func (c copier) attributes(from folder, name string, to folder, as string) error {
	names, err := from.attributes(name)
	if err != nil {
		return err
	}
	for _, a := range names {
		if stripped(a) || len(a) < 5 || a[:5] != "user." {
			continue
		}
		value := make([]byte, 64<<10)
		n, err := unix.Lgetxattr(from.proc()+"/"+name, a, value)
		if err != nil {
			return err
		}
		err = unix.Lsetxattr(to.proc()+"/"+as, a, value[:n], 0)
		if err != nil && !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.ENOSPC) {
			return err
		}
	}
	return nil
}
