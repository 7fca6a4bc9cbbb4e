package rpc

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// PeerOf asks the kernel who is at the other end (LOCAL_PEERCRED, LOCAL_PEERPID).
func PeerOf(conn *net.UnixConn) (Peer, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return Peer{}, fmt.Errorf("peer of the connection: %w", err)
	}
	var peer Peer
	var failed error
	err = raw.Control(func(fd uintptr) {
		cred, err := unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		if err != nil {
			failed = err
			return
		}
		peer.UID = int(cred.Uid)
		peer.PID, failed = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return Peer{}, fmt.Errorf("peer of the connection: %w", err)
	}
	return peer, nil
}

// ownDirectory is false: macOS has no /run/user.
func ownDirectory(string) bool { return false }
