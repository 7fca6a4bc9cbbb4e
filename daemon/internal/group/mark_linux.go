package group

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// passes bounds how often it is looked for processes that others of them started
// meanwhile.
const passes = 50

// KillMarked kills the processes whose environment has the mark, a NAME=VALUE, in
// whichever group and session they are. One that took it off is not found. An empty
// mark is nobody's.
func KillMarked(mark string) {
	for range passes {
		if mark == "" || !killMarked([]byte(mark)) {
			return
		}
		time.Sleep(time.Millisecond) // what was killed needs a moment to end
	}
}

// killMarked reports whether there was one.
func killMarked(mark []byte) (found bool) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err == nil && pid != os.Getpid() && has(pid, mark) {
			found = true
			if fd, err := unix.PidfdOpen(pid, 0); err == nil {
				if has(pid, mark) { // the number may be another's since
					_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) // it may have ended
				}
				_ = unix.Close(fd)
			}
		}
	}
	return found
}

// has reports whether a process was started with a variable; of others' it is not known.
func has(pid int, variable []byte) bool {
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	for v := range bytes.SplitSeq(environ, []byte{0}) {
		if bytes.Equal(v, variable) {
			return true
		}
	}
	return false
}
