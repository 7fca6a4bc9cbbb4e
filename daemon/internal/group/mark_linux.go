package group

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// passes bounds how often it is looked for processes that others of them started
// meanwhile.
const passes = 50

// KillMarked kills the processes whose environment has the mark, a NAME=VALUE, and those in
// a user namespace, in whichever group and session they are, and reports whether none is
// left. One that took the mark off is found by the namespace alone. An empty mark and a nil
// namespace are nobody's.
func KillMarked(mark string, space *Space) (gone bool) {
	if mark == "" && space == nil {
		return true
	}
	for range passes {
		if !killMarked([]byte(mark), space) {
			return true
		}
		time.Sleep(time.Millisecond) // what was killed needs a moment to end
	}
	return false
}

// killMarked reports whether there was one that had not ended.
func killMarked(mark []byte, space *Space) (found bool) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() || !space.Has(pid) && !has(pid, mark) {
			continue
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			found = found || !errors.Is(err, unix.ESRCH)
			continue
		}
		if !ended(fd) && (space.Has(pid) || has(pid, mark)) { // the number may be another's since
			found = true
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) // it may have ended
		}
		_ = unix.Close(fd)
	}
	return found
}

// ended reports whether all threads of a process have ended, whose number stays until its
// parent has taken its status.
func ended(fd int) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}

// has reports whether a process was started with a variable; of others' it is not known.
func has(pid int, variable []byte) bool {
	if len(variable) == 0 {
		return false
	}
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
