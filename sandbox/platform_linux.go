package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// peerPID is the process at the other end, as the kernel recorded it when it
// connected.
func peerPID(conn *net.UnixConn) (int, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return 0, err
	}
	if credErr != nil {
		return 0, credErr
	}
	return int(cred.Pid), nil
}

// hungUp says whether the other end is closed, without reading anything.
func hungUp(conn *net.UnixConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return true
	}
	gone := false
	err = raw.Control(func(fd uintptr) {
		var b [1]byte
		n, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		gone = err == nil && n == 0 || err != nil && !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR)
	})
	return gone || err != nil
}

// unique is what the kernel changes whenever a file's content or name does and
// no command can set: inode and change time. Of a directory only the inode
// counts, its entries are compared themselves.
func unique(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	if info.IsDir() {
		return strconv.FormatUint(st.Ino, 10)
	}
	return fmt.Sprintf("%d.%d.%d", st.Ino, st.Ctim.Sec, st.Ctim.Nsec)
}

// folderVersionOf is the version of what a path below an open folder is, with its
// mode. It costs one system call: a project has many.
func folderVersionOf(top *os.File, path string) (folderVersion, fs.FileMode, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(int(top.Fd()), path, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return folderVersion{}, 0, err
	}
	mode := fs.FileMode(st.Mode & 0o777)
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		mode |= fs.ModeDir
	}
	return folderVersion{st.Dev, st.Ino, st.Ctim.Sec, st.Ctim.Nsec}, mode, nil
}

// ownedBySelf says whether a file is the caller's own.
func ownedBySelf(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// pinAt opens a path as it is, without reading it: no link is followed, neither
// at its end nor on its way. With a folder, the path must lie below that.
func pinAt(folder *os.File, path string, directory bool) (*os.File, error) {
	at, how := unix.AT_FDCWD, unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	if folder != nil {
		at, how.Resolve = int(folder.Fd()), how.Resolve|unix.RESOLVE_BENEATH
	}
	if directory {
		how.Flags |= unix.O_DIRECTORY
	}
	for {
		fd, err := unix.Openat2(at, path, &how)
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), path), nil
		case !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN): // EAGAIN is a rename elsewhere
			return nil, &fs.PathError{Op: "openat2", Path: path, Err: err}
		}
	}
}

// identity is the device and inode of an open file.
func identity(f *os.File) (device, inode uint64, err error) {
	var st unix.Stat_t
	err = unix.Fstat(int(f.Fd()), &st)
	return uint64(st.Dev), st.Ino, err
}

// childAttr starts a process that dies with the thread that made it. It stays in our
// process group, which is killed with us: what Podman has forked and not told yet who it
// is waits for that for ever, and no death signal reaches it.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// commandLine are the arguments of a process, or nil when there is none.
func commandLine(pid int) []string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil || len(data) == 0 {
		return nil
	}
	var args []string
	for _, arg := range bytes.Split(bytes.TrimSuffix(data, []byte{0}), []byte{0}) {
		args = append(args, string(arg))
	}
	return args
}

// hardLimits are this process's hard limits by the names Podman uses.
func hardLimits() map[string]int64 {
	limits := make(map[string]int64)
	for name, which := range map[string]int{"NPROC": unix.RLIMIT_NPROC, "DATA": unix.RLIMIT_DATA,
		"NOFILE": unix.RLIMIT_NOFILE, "FSIZE": unix.RLIMIT_FSIZE, "CORE": unix.RLIMIT_CORE} {
		var l unix.Rlimit
		if unix.Getrlimit(which, &l) == nil && int64(l.Max) >= 0 {
			limits[name] = int64(l.Max)
		}
	}
	return limits
}

// shareFile takes a shared lock without waiting.
func shareFile(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
}

// lockFile takes an exclusive lock without waiting. The kernel drops it when
// the process ends.
func lockFile(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

// kernelRelease is the version of Linux.
func kernelRelease() string {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return "of an unknown version"
	}
	return unix.ByteSliceToString(name.Release[:])
}

// fileIdentity is which file something is.
func fileIdentity(info fs.FileInfo) (device, inode uint64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return uint64(st.Dev), st.Ino
}

// changeTime is when a file, its name or its mode was changed last; nobody can set it.
func changeTime(info fs.FileInfo) time.Time {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Now()
	}
	return time.Unix(st.Ctim.Sec, st.Ctim.Nsec)
}

// seccompPossible says whether the kernel filters system calls: seccomp(2), which
// looks at the pointer only then.
func seccompPossible() bool {
	return !errors.Is(unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, 0, 0, 0), unix.EINVAL)
}

// makeOpaque makes a folder of an overlay's upper layer that hides what the lower one has
// there, now and later. Where a file system takes no attributes of users no overlay is
// mounted either.
func makeOpaque(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := unix.Setxattr(dir, "user.overlay.opaque", []byte("y"), 0); err != nil && !errors.Is(err, unix.EOPNOTSUPP) {
		return err
	}
	return nil
}
