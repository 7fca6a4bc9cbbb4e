package server

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// transport carries the messages of one connection, each whole. Package server knows three: a
// Unix socket, a WebSocket, and a POST, which brings one message.
type transport interface {
	sender
	// next waits for a message of the client's. io.EOF is a client that has no more to say
	// and may still wait for answers; another error is one that is gone, or must go.
	next() ([]byte, error)
	// last sends a message for which nobody waits; it may be called while write is.
	last(text []byte)
	// deafen makes next return; what is written goes on.
	deafen()
	// hungUp reports whether nobody is there any more who could read an answer.
	hungUp() bool
}

// sender is the half of a transport that writes. Writes go one at a time.
type sender interface {
	// write sends one message. The room behind text is the transport's own.
	write(text []byte) error
	// joins reports whether messages may be written together, with a newline between.
	joins() bool
	// close ends the connection; it may be called more than once.
	close()
}

// lastTime is how long the last message to somebody who must go may take.
const lastTime = 100 * time.Millisecond

// lines is a Unix socket, on which each message is a line.
type lines struct {
	*frameReader
	net     *net.UnixConn
	timeout time.Duration // for a piece of what is written
}

func newLines(nc *net.UnixConn, limits Limits) *lines {
	return &lines{frameReader: newFrameReader(nc, limits), net: nc, timeout: limits.Write}
}

func (l *lines) write(text []byte) error {
	return writePieces(l.net, append(text, '\n'), l.timeout)
}

func (l *lines) joins() bool { return true }

func (l *lines) last(text []byte) { lastLine(l.net, text) }

// lastLine writes into the socket's buffer. It is empty as a rule, so this does not block; the
// deadline is for peers that play with buffer sizes.
func lastLine(nc net.Conn, text []byte) {
	_ = nc.SetWriteDeadline(time.Now().Add(lastTime)) // fails only when the connection is gone, as the write then does
	_, _ = nc.Write(append(text, '\n'))
}

func (l *lines) deafen() {
	_ = l.net.CloseRead() // fails only when the connection is gone, which is as good
}

func (l *lines) close() {
	_ = l.net.Close() // it may be closed already
}

// hungUp reports whether the peer has closed both directions.
func (l *lines) hungUp() bool {
	raw, err := l.net.SyscallConn()
	if err != nil {
		return true
	}
	gone := false
	err = raw.Control(func(fd uintptr) {
		fds := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(fds, 0)
		gone = err == nil && n > 0 && fds[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0
	})
	return gone || err != nil
}

// pieceSize is how much must get through within one timeout: a slow reader is
// served for as long as it reads.
const pieceSize = 128 << 10

func writePieces(to net.Conn, text []byte, timeout time.Duration) error {
	for len(text) > 0 {
		n := min(len(text), pieceSize)
		if err := to.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
			return err
		}
		if _, err := to.Write(text[:n]); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}
