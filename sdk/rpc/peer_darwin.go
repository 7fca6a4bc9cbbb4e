package rpc

import "golang.org/x/sys/unix"

// peerOf asks by LOCAL_PEERCRED and LOCAL_PEERPID.
func peerOf(fd int) (Peer, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return Peer{}, err
	}
	pid, err := unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	return Peer{UID: int(cred.Uid), PID: pid}, err
}

// ownDirectory is false: macOS has no /run/user.
func ownDirectory(string) bool { return false }
