//go:build !linux

package sandbox

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"
)

// Open refuses to work here before any of these is called.
var errNotLinux = errors.New("containers need Linux")

func peerPID(*net.UnixConn) (int, error) { return 0, errNotLinux }

func hungUp(*net.UnixConn) bool { return true }

func unique(fs.FileInfo) string { return "" }

func folderVersionOf(*os.File, string) (folderVersion, fs.FileMode, error) {
	return folderVersion{}, 0, errNotLinux
}

func ownedBySelf(fs.FileInfo) bool { return false }

func pinAt(*os.File, string, bool) (*os.File, error) { return nil, errNotLinux }

func identity(*os.File) (device, inode uint64, err error) { return 0, 0, errNotLinux }

func childAttr() *syscall.SysProcAttr { return nil }

func commandLine(int) []string { return nil }

func hardLimits() map[string]int64 { return nil }

func shareFile(*os.File) error { return errNotLinux }

func lockFile(*os.File) error { return errNotLinux }

func kernelRelease() string { return "" }

func fileIdentity(fs.FileInfo) (device, inode uint64) { return 0, 0 }

func changeTime(info fs.FileInfo) time.Time { return info.ModTime() }

func seccompPossible() bool { return false }

func makeOpaque(string) error { return errNotLinux }
