package main

import (
	"fmt"
	"io/fs"
	"syscall"
)

// versionOf tells a file from what it is after any change, one that sets back the
// time of its contents included.
func versionOf(info fs.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprint(s.Dev, s.Ino, s.Mode, s.Size, s.Mtimespec.Nano(), s.Ctimespec.Nano())
}
