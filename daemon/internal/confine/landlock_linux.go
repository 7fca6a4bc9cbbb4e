package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What a rule of Landlock may give. The kernel refuses to give what it does not
// know, and to give a file what only folders have.
const (
	toRead = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	toSee  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	toUse  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV

	toWrite = toRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX

	ofFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
)

// everyRight has, by version of Landlock, the newest right to files that it
// knows; it knows all that are smaller.
var everyRight = []uint64{
	1: unix.LANDLOCK_ACCESS_FS_MAKE_SYM,
	2: unix.LANDLOCK_ACCESS_FS_REFER,
	3: unix.LANDLOCK_ACCESS_FS_TRUNCATE,
	4: unix.LANDLOCK_ACCESS_FS_TRUNCATE,
	5: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV,
	6: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV,
	7: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV,
	8: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV,
	9: unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX,
}

// landlockVersion is what the kernel has of Landlock: 0 is nothing.
func landlockVersion() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// ruleset is what a process may do with files; everything else is refused once
// it holds.
type ruleset struct {
	fd      int
	handled uint64
}

// newRuleset takes every right that the kernel knows, and gives none.
func newRuleset(version int, network bool) (*ruleset, error) {
	newest := everyRight[min(version, len(everyRight)-1)]
	attr := unix.LandlockRulesetAttr{Handled_access_fs: newest<<1 - 1}
	size := unsafe.Sizeof(attr.Handled_access_fs)
	if version >= 4 {
		size += unsafe.Sizeof(attr.Handled_access_net)
		if !network {
			attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		}
	}
	if version >= 6 {
		size += unsafe.Sizeof(attr.Scoped)
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return nil, fmt.Errorf("this kernel cannot hold a process to some files: %w", errno)
	}
	return &ruleset{fd: int(fd), handled: attr.Handled_access_fs}, nil
}

// allow gives rights to what a path names now, and to all below it. A path that
// is not there is an error where a person named it.
func (r *ruleset) allow(spec Spec, path string, rights uint64, named bool) error {
	fd, err := spec.open(path)
	if err != nil {
		if !named && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)) {
			return nil
		}
		return &fs.PathError{Op: "allow", Path: path, Err: err}
	}
	defer func() { _ = unix.Close(fd) }() // it was only read
	if err := r.allowFile(fd, rights); err != nil {
		return &fs.PathError{Op: "allow", Path: path, Err: err}
	}
	return nil
}

func (r *ruleset) allowFile(fd int, rights uint64) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= ofFiles
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights & r.handled, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	runtime.KeepAlive(&attr)
	if errno != 0 {
		return errno
	}
	return nil
}

// hold makes the rules hold for this thread, and for whatever it becomes.
func (r *ruleset) hold() error {
	defer func() { _ = unix.Close(r.fd) }() // the rules are the kernel's by then
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0); errno != 0 {
		return fmt.Errorf("this kernel cannot hold a process to some files: %w", errno)
	}
	return nil
}

// system is what programs of this machine need to run at all: their code, the
// loader's and resolver's settings, certificates. Nothing in it is a person's,
// and nothing tells of other processes.
var system = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/alternatives",
	"/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols",
	"/etc/passwd", "/etc/group", "/etc/localtime", "/etc/timezone", "/etc/os-release", "/etc/mime.types", "/etc/locale.alias",
	"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted", "/etc/crypto-policies",
}

// seen is what a program may read about the machine and, by self, about itself.
// Beside self, /proc has the environment and the memory of every process that
// the user runs.
var seen = []string{
	"/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/filesystems", "/proc/sys/kernel/random",
	"/proc/sys/net/core/somaxconn", "/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu", "/sys/kernel/mm/transparent_hugepage",
}

var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// restrict holds this thread to the files of the spec. Everything that it needs
// from elsewhere has to be open before.
func restrict(spec Spec, version int) error {
	r, err := newRuleset(version, spec.Network)
	if err != nil {
		return err
	}
	for _, group := range []struct {
		paths  []string
		rights uint64
		named  bool
	}{
		{system, toRead, false}, {seen, toSee, false}, {devices, toUse, false},
		{spec.Read, toRead, true}, {spec.Write, toWrite, true},
	} {
		for _, path := range group.paths {
			if err := r.allow(spec, path, group.rights, group.named); err != nil {
				return err
			}
		}
	}
	if err := r.allowFile(BinaryFD, toRead); err != nil {
		return &os.PathError{Op: "allow", Path: "the plugin's file", Err: err}
	}
	return r.hold()
}
