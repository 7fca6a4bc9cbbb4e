package daemon

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// deepest bounds the walk to process 1: a chain of parents longer than this is
// somebody playing games.
const deepest = 1000

// descended reports whether pid is a plugin of this daemon or descends from
// one. It is asked about peers of the socket and can only refuse: a process
// that left its parents behind is not found, which is why approve and admin
// will need a token besides.
func (d *Daemon) descended(pid int) bool {
	plugins := map[int]bool{}
	for _, p := range d.host.Processes() {
		plugins[p] = true
	}
	self := os.Getpid()
	for range deepest {
		if plugins[pid] {
			return true
		}
		if pid <= 1 || pid == self {
			return false
		}
		parent, err := parentOf(pid)
		if err != nil {
			return false
		}
		pid = parent
	}
	return true
}

// parentOf reads the parent of a process from /proc/PID/stat: the fourth
// field, counted behind the name, which may hold anything.
func parentOf(pid int) (int, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	end := bytes.LastIndexByte(stat, ')')
	fields := bytes.Fields(stat[end+1:])
	if end < 0 || len(fields) < 2 {
		return 0, fmt.Errorf("/proc/%d/stat is not understood", pid)
	}
	return strconv.Atoi(string(fields[1]))
}
