package main

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sandbox/frame"
)

// places tells what the container was made of, as it was when the runner began: a
// view comes and goes on the workspace later. What cannot be looked at is left
// out, and the manager misses it.
var places = sync.OnceValue(lookAtPlaces)

func lookAtPlaces() []frame.Place {
	mountinfo, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	var found []frame.Place
	for _, path := range ofHost(frame.ParseMounts(mountinfo)) {
		var st unix.Stat_t
		if unix.Lstat(path, &st) == nil {
			found = append(found, frame.Place{Path: path, Device: uint64(st.Dev), Inode: st.Ino})
		}
	}
	return found
}

// viewMounted says whether a view lies on the workspace now: an overlay on
// another device than the empty folder that the container was made with.
func viewMounted() bool {
	var fs unix.Statfs_t
	var st unix.Stat_t
	if unix.Statfs(frame.Workspace, &fs) != nil || fs.Type != unix.OVERLAYFS_SUPER_MAGIC || unix.Lstat(frame.Workspace, &st) != nil {
		return false
	}
	for _, p := range places() {
		if p.Path == frame.Workspace {
			return p.Device != uint64(st.Dev)
		}
	}
	return false
}
