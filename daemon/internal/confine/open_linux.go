package confine

import (
	"errors"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// open names what a process is to have. In a folder that it may write no
// symbolic link is followed: an earlier process of the plugin may have put it
// there, to have what it leads to the next time.
func (s Spec) open(path string) (fd int, err error) {
	const how = unix.O_PATH | unix.O_CLOEXEC
	path = filepath.Clean(path)
	folder := s.writable(path)
	if folder == "" {
		return unix.Open(path, how, 0)
	}
	dir, err := unix.Open(folder, how, 0)
	if err != nil {
		return -1, err
	}
	defer func() { _ = unix.Close(dir) }() // it was only read
	below := strings.TrimPrefix(strings.TrimPrefix(path, folder), "/")
	fd, err = unix.Openat2(dir, below, &unix.OpenHow{Flags: how, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_BENEATH})
	if errors.Is(err, unix.ELOOP) {
		return -1, errors.New("there is a symbolic link in it that the plugin may have made, for it may write " + folder + ": name what it leads to")
	}
	return fd, err
}

// writable is the outermost folder around a path that the process may write.
func (s Spec) writable(path string) string {
	folder := ""
	for _, w := range s.Write {
		w = filepath.Clean(w)
		if strings.HasPrefix(path, strings.TrimSuffix(w, "/")+"/") && path != w && (folder == "" || len(w) < len(folder)) {
			folder = w
		}
	}
	return folder
}
