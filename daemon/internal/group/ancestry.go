package group

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

// Descends reports whether a process is one of others or descends from one, or is in the
// user namespace of one that has its own. It can only be used to refuse: a process that
// left its parents behind is found by that namespace alone, and one that has ended, or has
// more parents than there can be, counts as found: another may go on with what it opened.
// Where the system shows no process (/proc is Linux's), one that has ended is not seen.
func Descends(pid int, others []int) bool {
	if _, err := parentOf(pid); err != nil {
		if _, err := parentOf(os.Getpid()); err == nil {
			return true
		}
	}
	line, whole := ancestry(pid)
	return !whole || slices.ContainsFunc(line, func(p int) bool { return slices.Contains(others, p) }) || marked(pid, others...)
}

// Within reports whether a process is another one or descends from it, or is in its user
// namespace where that is its own. One that left its parents behind is found by that
// alone.
func Within(pid, ancestor int) bool {
	line, _ := ancestry(pid)
	return slices.Contains(line, ancestor) || marked(pid, ancestor)
}

// marked reports whether a process is in the user namespace of one of others that is not
// this process's own. A confined plugin has one, and nothing that it starts can leave it
// (docs/decisions/0033-confinement.md).
func marked(pid int, others ...int) bool {
	space := userSpace(pid)
	if space == "" || space == userSpace(os.Getpid()) {
		return false
	}
	return slices.ContainsFunc(others, func(p int) bool { return userSpace(p) == space })
}

// ancestry is a process and its parents, up to this process or process 1; not whole
// when there are more of them than there can be.
func ancestry(pid int) (line []int, whole bool) {
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
