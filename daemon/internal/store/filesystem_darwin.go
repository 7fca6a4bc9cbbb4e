package store

import (
	"fmt"
	"strings"
	"syscall"
)

// filesystemKind names the filesystem of a folder as mount(8) does.
func filesystemKind(dir string) (string, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return "", fmt.Errorf("asking for the filesystem of %s: %w", dir, err)
	}
	var name strings.Builder
	for _, c := range st.Fstypename {
		if c == 0 {
			break
		}
		name.WriteByte(byte(c))
	}
	return name.String(), nil
}
