package rpc

// Peer is the process at the other end of a Unix socket, as the kernel saw it
// when the connection was made. PID may long belong to another process: use it
// to refuse, never to grant.
type Peer struct {
	UID int
	PID int // 0 when the peer's process is not visible from here
}
