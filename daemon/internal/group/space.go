package group

import (
	"fmt"
	"os"
)

// Space is the user namespace of a confined plugin, in which all is that it started and
// nothing else. It is held open, so that the kernel gives its number to no other one;
// whoever made it has to close it. A nil Space has nobody in it.
type Space struct {
	held *os.File
	name string
}

// SpaceOf is the user namespace of a process; nil where that is this process's own, and
// where it cannot be read.
func SpaceOf(pid int) *Space {
	held, err := os.Open(spacePath(pid))
	if err != nil {
		return nil
	}
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", held.Fd()))
	if err != nil || name == userSpace(os.Getpid()) {
		_ = held.Close() // it was only looked at
		return nil
	}
	return &Space{held: held, name: name}
}

// Has reports whether a process is in it.
func (s *Space) Has(pid int) bool { return s != nil && userSpace(pid) == s.name }

// Close gives the number back to the kernel. Nobody may be in it any more.
func (s *Space) Close() {
	if s != nil {
		_ = s.held.Close() // it was only looked at
	}
}

// userSpace names the user namespace of a process; empty where that cannot be read, which
// who made the namespace always can.
func userSpace(pid int) string {
	name, _ := os.Readlink(spacePath(pid)) // gone, another's, or no Linux
	return name
}

func spacePath(pid int) string { return fmt.Sprintf("/proc/%d/ns/user", pid) }
