package main

import (
	"errors"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sandbox/frame"
)

// The kinds of a [frame.ViewNode], and one that never leaves this program: the
// mark that says that something is gone.
const (
	kindFile      = "file"
	kindDirectory = "directory"
	kindLink      = "link"
	kindOther     = "other"
	kindWhiteout  = "whiteout"
)

// node is what is in a folder under a name; nothing is no error, and neither is no
// folder.
func (f folder) node(name string) (frame.ViewNode, error) {
	if f == none {
		return frame.ViewNode{}, nil
	}
	var st unix.Stat_t
	err := unix.Fstatat(int(f), name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) {
		return frame.ViewNode{}, nil
	}
	if err != nil {
		return frame.ViewNode{}, err
	}
	n := nodeOf(&st)
	if n.Kind == kindLink {
		if n.Target, err = f.target(name); err != nil {
			return frame.ViewNode{}, err
		}
	}
	return n, nil
}

func nodeOf(st *unix.Stat_t) frame.ViewNode {
	n := frame.ViewNode{
		Kind: kindOther, Mode: st.Mode & 0o7777, Size: st.Size, Device: uint64(st.Dev), Inode: st.Ino, UID: st.Uid, Links: int(st.Nlink),
		Changed: time.Unix(st.Ctim.Unix()).UTC(), Modified: time.Unix(st.Mtim.Unix()).UTC(),
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		n.Kind = kindFile
	case unix.S_IFDIR:
		n.Kind = kindDirectory
	case unix.S_IFLNK:
		n.Kind = kindLink
	case unix.S_IFCHR:
		if st.Rdev == 0 {
			n.Kind = kindWhiteout
		}
	}
	return n
}

func (f folder) target(name string) (string, error) {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(int(f), name, buf)
	return string(buf[:max(n, 0)]), err
}

// The attributes that the kernel and this program know. Those of the overlay
// never leave a view.
const (
	xattrOverlay = "user.overlay."
	xattrOrigin  = "user.overlay.origin"
	xattrOpaque  = "user.overlay.opaque"
	xattrCaps    = "security.capability"
)

// attributes are the names of what is attached to a file or folder.
func (f folder) attributes(name string) ([]string, error) {
	var stack [256]byte
	buf := stack[:]
	for {
		n, err := f.listAttributes(name, buf)
		switch {
		case errors.Is(err, unix.ERANGE):
			buf = make([]byte, 64<<10) // the most the kernel gives
		case errors.Is(err, unix.EOPNOTSUPP), n == 0 && err == nil:
			return nil, nil
		case err != nil:
			return nil, err
		default:
			return strings.Split(strings.TrimSuffix(string(buf[:n]), "\x00"), "\x00"), nil
		}
	}
}

// The calls of Linux 6.13 take half the time: there are many files.
const (
	sysListxattrat   = 465
	sysRemovexattrat = 466
)

var noXattrat atomic.Bool

// xattrat makes one of them; tried is false when the kernel does not have it.
func (f folder) xattrat(call uintptr, name string, data unsafe.Pointer, size int) (n int, tried bool, err error) {
	if noXattrat.Load() {
		return 0, false, nil
	}
	path, err := unix.BytePtrFromString(name)
	if err != nil {
		return 0, true, err
	}
	r, _, errno := unix.Syscall6(call, uintptr(f), uintptr(unsafe.Pointer(path)), unix.AT_SYMLINK_NOFOLLOW, uintptr(data), uintptr(size), 0)
	switch errno {
	case 0:
		return int(r), true, nil
	case unix.ENOSYS, unix.EPERM: // a filter that does not know it
		noXattrat.Store(true)
		return 0, false, nil
	}
	return 0, true, errno
}

func (f folder) listAttributes(name string, buf []byte) (int, error) {
	if n, tried, err := f.xattrat(sysListxattrat, name, unsafe.Pointer(&buf[0]), len(buf)); tried {
		return n, err
	}
	return unix.Llistxattr(f.proc()+"/"+name, buf)
}

// detach takes an attribute off a file or folder.
func (f folder) detach(name, attribute string) error {
	value, err := unix.BytePtrFromString(attribute)
	if err != nil {
		return err
	}
	if _, tried, err := f.xattrat(sysRemovexattrat, name, unsafe.Pointer(value), 0); tried {
		return err
	}
	return unix.Lremovexattr(f.proc()+"/"+name, attribute)
}

// stripped says whether an attribute is taken off before something is applied.
func stripped(attribute string) bool {
	return strings.HasPrefix(attribute, xattrOverlay) || attribute == xattrCaps
}

// hide has a folder of a view hide what lies below it.
func (f folder) hide(name string) error {
	return unix.Lsetxattr(f.proc()+"/"+name, xattrOpaque, []byte("y"), 0)
}

// opaque says whether a folder of a view hides what lies below it.
func (f folder) opaque(name string) (bool, error) {
	var value [2]byte
	n, err := unix.Lgetxattr(f.proc()+"/"+name, xattrOpaque, value[:])
	if errors.Is(err, unix.ENODATA) || errors.Is(err, unix.EOPNOTSUPP) {
		return false, nil
	}
	return n == 1 && value[0] == 'y', err
}
