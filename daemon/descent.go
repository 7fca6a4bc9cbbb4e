package daemon

import (
	"bytes"
	"fmt"
	"os"
	"slices"
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
	line, whole := lineage(pid)
	return !whole || slices.ContainsFunc(line, func(p int) bool { return plugins[p] })
}

// isWithin reports whether a process is another one or descends from it, which
// one that left its parents behind does not.
func isWithin(pid, ancestor int) bool {
	line, _ := lineage(pid)
	return slices.Contains(line, ancestor)
}

// lineage is a process and its parents, up to the daemon or process 1; not whole
// when there are more of them than there can be.
func lineage(pid int) (line []int, whole bool) {
	self := os.Getpid()
	for range deepest {
		line = append(line, pid)
		if pid <= 1 || pid == self {
			return line, true
		}
		parent, err := parentOf(pid)
		if err != nil {
			return line, true
		}
		pid = parent
	}
	return line, false
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
