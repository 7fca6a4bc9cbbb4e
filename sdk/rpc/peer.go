package rpc

import (
	"errors"
	"fmt"
	"net"
)

// Peer is the process at the other end of a Unix socket, as the kernel saw it
// when the connection was made. PID may long belong to another process: use it
// to refuse, never to grant.
type Peer struct {
	UID int
	PID int // 0 when the peer's process is not visible from here
}

// PeerOf asks the kernel who is at the other end.
func PeerOf(conn *net.UnixConn) (peer Peer, err error) {
	raw, err := conn.SyscallConn()
	if err == nil {
		var failed error
		err = raw.Control(func(fd uintptr) { peer, failed = peerOf(int(fd)) })
		err = errors.Join(err, failed)
	}
	if err != nil {
		return Peer{}, fmt.Errorf("peer of the connection: %w", err)
	}
	return peer, nil
}
