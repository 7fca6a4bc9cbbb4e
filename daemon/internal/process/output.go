package process

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// mostLeft is how much is read that lies in the pipe of a process which has
// ended: who still holds the other end may write for ever.
const mostLeft = 1 << 20

// pipe reads the output of a process. Once its deadline is over, which is when
// the process has ended, it reads what lies there and waits for no more.
type pipe struct {
	from *os.File
	left int
}

// Read implements io.Reader.
func (p *pipe) Read(b []byte) (int, error) {
	n, err := p.from.Read(b)
	if !errors.Is(err, os.ErrDeadlineExceeded) || p.left >= mostLeft {
		return n, err
	}
	raw, err := p.from.SyscallConn()
	if err != nil {
		return 0, err
	}
	var read error
	if err := raw.Control(func(fd uintptr) { n, read = syscall.Read(int(fd), b) }); err != nil {
		return 0, err
	}
	if n <= 0 || read != nil {
		return 0, io.EOF // empty, or nobody holds the other end
	}
	p.left += n
	return n, nil
}
