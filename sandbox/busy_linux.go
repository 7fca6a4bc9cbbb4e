package sandbox

import (
	"errors"

	"golang.org/x/sys/unix"
)

// busy says whether a process of this machine has a file of a folder open to write: a
// database, or a log. The kernel grants a read lease only on a file that nobody has
// open so (fcntl(2), F_SETLEASE). Where it grants none at all, as on file systems of
// other machines, nothing is known, and the file counts as free.
func busy(folder, path string) bool {
	f, err := openBelow(folder, path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // which ends the lease
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	return errors.Is(err, unix.EAGAIN)
}
