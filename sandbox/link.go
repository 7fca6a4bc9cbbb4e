package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/bothyd/bothy/sandbox/frame"
)

const (
	socketName = "s"
	// silence is how long a runner may say nothing before it counts as dead.
	silence = 2 * time.Second
	// heartbeat is the pause between two questions whether it lives.
	heartbeat = 500 * time.Millisecond
	// grace is how much longer than a command's timeout the manager waits
	// for the runner to end it.
	grace = 2 * time.Second
)

var (
	errNoAnswer = errors.New("the runner in the container does not answer")
	errOverdue  = errors.New("the runner did not end the command in time")
)

// listener is the socket that a container's runner dials. It stands in a
// directory that the container sees read-only, and only while no runner is
// connected.
type listener struct {
	socket *net.UnixListener
}

// listen opens a run's socket; a stale one of a dead manager is replaced.
func listen(dir string) (*listener, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, failed("make the socket directory", err)
	}
	path := filepath.Join(dir, socketName)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, failed("remove a stale socket", err)
	}
	socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, failed("open the runner's socket", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = socket.Close()
		return nil, failed("open the runner's socket", err)
	}
	return &listener{socket: socket}, nil
}

func (l *listener) close() { _ = l.socket.Close() }

// accept waits for the process pid, which is the container's process 1, and
// shakes hands. Whoever else connects is closed at once: a command has another
// pid, and the kernel names it.
func (l *listener) accept(ctx context.Context, pid int, mounts []string, limit time.Duration) (*link, error) {
	defer l.close()
	stop := context.AfterFunc(ctx, l.close)
	defer stop()
	if err := l.socket.SetDeadline(time.Now().Add(limit)); err != nil {
		return nil, err
	}
	for {
		conn, err := l.socket.AcceptUnix()
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, fmt.Errorf("%w: %w", errNoAnswer, err)
		}
		if peer, err := peerPID(conn); err != nil || peer != pid {
			_ = conn.Close()
			time.Sleep(time.Millisecond)
			continue
		}
		return greet(conn, mounts)
	}
}

// greet answers the runner's Hello.
func greet(conn *net.UnixConn, mounts []string) (*link, error) {
	l := &link{conn: conn, reader: bufio.NewReaderSize(conn, 2*frame.MaxChunk), buf: make([]byte, 2*frame.MaxChunk)}
	err := func() error {
		kind, payload, err := l.read(time.Now().Add(silence))
		if err != nil {
			return err
		}
		var hello frame.Hello
		if kind != frame.KindHello {
			return frame.ErrMalformed
		}
		if err := frame.Decode(payload, &hello); err != nil {
			return err
		}
		if hello.Version != frame.Version {
			return fmt.Errorf("the runner speaks version %d, not %d", hello.Version, frame.Version)
		}
		l.places, l.filters = hello.Places, hello.Filters
		return l.write(frame.KindWelcome, frame.Welcome{Version: frame.Version, Mounts: mounts})
	}()
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return l, nil
}

// link is the connection to one container's runner.
type link struct {
	conn   *net.UnixConn
	reader *bufio.Reader
	buf    []byte
	last   uint64
	// places are what the runner said the container is made of.
	places []frame.Place
	// filters is how many filters of system calls it said it has.
	filters int
	// heard is when the runner last said something.
	heard time.Time

	mu sync.Mutex
}

func (l *link) close() { _ = l.conn.Close() }

// leave ends the command that runs, if one does, and the link: a runner whose
// link merely breaks lets it run on for the next manager.
func (l *link) leave() {
	_ = l.write(frame.KindCancel, frame.Cancel{ID: l.last})
	l.close()
}

func (l *link) write(kind frame.Kind, v any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.conn.SetWriteDeadline(time.Now().Add(silence)); err != nil {
		return err
	}
	if v == nil {
		return frame.Write(l.conn, kind, nil)
	}
	return frame.WriteJSON(l.conn, kind, v)
}

func (l *link) read(deadline time.Time) (frame.Kind, []byte, error) {
	if err := l.conn.SetReadDeadline(deadline); err != nil {
		return 0, nil, err
	}
	kind, payload, err := frame.Read(l.reader, l.buf)
	if err == nil {
		l.heard = time.Now()
	}
	return kind, payload, err
}

// alive asks the runner for a sign of life, unless it has just given one.
func (l *link) alive() error {
	if hungUp(l.conn) {
		return net.ErrClosed
	}
	if time.Since(l.heard) < heartbeat {
		return nil
	}
	if err := l.write(frame.KindPing, nil); err != nil {
		return err
	}
	kind, _, err := l.read(time.Now().Add(silence))
	if err == nil && kind != frame.KindPong {
		err = frame.ErrMalformed
	}
	return err
}

// exec runs one command to its end. An error means that the container is of no
// use any more; when ctx is cancelled the command is ended and its Exit
// returned as usual.
func (l *link) exec(ctx context.Context, e frame.Exec, sink Sink) (frame.Exit, error) {
	l.last++
	e.ID = l.last
	if err := l.write(frame.KindExec, e); err != nil {
		return frame.Exit{}, err
	}
	overdue := time.Now().Add(time.Duration(e.TimeoutMS)*time.Millisecond + grace)
	done := make(chan struct{})
	var beats sync.WaitGroup
	beats.Go(func() { l.beat(ctx, e.ID, done) })
	defer beats.Wait()
	defer close(done)
	cancelled := false
	for {
		if ctx.Err() != nil && !cancelled {
			cancelled = true
			overdue = time.Now().Add(grace)
		}
		deadline := time.Now().Add(silence)
		if overdue.Before(deadline) {
			deadline = overdue
		}
		kind, payload, err := l.read(deadline)
		if err != nil {
			return frame.Exit{}, l.explain(err, overdue)
		}
		switch kind {
		case frame.KindPong:
		case frame.KindChunk:
			began := time.Now()
			if err := pass(payload, e.ID, sink); err != nil {
				return frame.Exit{}, err
			}
			overdue = overdue.Add(time.Since(began)) // a slow sink is not the runner's fault
		case frame.KindExit:
			var exit frame.Exit
			if err := frame.Decode(payload, &exit); err != nil {
				return frame.Exit{}, err
			}
			if exit.ID == e.ID {
				return exit, nil
			}
		default:
			return frame.Exit{}, frame.ErrMalformed
		}
		if time.Now().After(overdue) {
			return frame.Exit{}, errOverdue
		}
	}
}

// settle asks how the command of a call ended. The output that the runner holds
// goes to the sink.
func (l *link) settle(call string, sink Sink) (frame.Settled, error) {
	l.last++
	id := l.last
	if err := l.write(frame.KindSettle, frame.Settle{ID: id, Call: call}); err != nil {
		return frame.Settled{}, err
	}
	for {
		kind, payload, err := l.read(time.Now().Add(silence))
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return frame.Settled{}, errNoAnswer
		}
		if err != nil {
			return frame.Settled{}, err
		}
		switch kind {
		case frame.KindChunk:
			if err := pass(payload, id, sink); err != nil {
				return frame.Settled{}, err
			}
		case frame.KindSettled:
			var settled frame.Settled
			if err := frame.Decode(payload, &settled); err != nil {
				return frame.Settled{}, err
			}
			if settled.ID == id {
				return settled, nil
			}
		default:
			return frame.Settled{}, frame.ErrMalformed
		}
	}
}

// pass gives a chunk to the sink, when it is of what was asked.
func pass(payload []byte, id uint64, sink Sink) error {
	chunk, err := frame.ParseChunk(payload)
	if err == nil && chunk.ID == id && sink != nil {
		sink(int(chunk.Channel), chunk.Data)
	}
	return err
}

// beat keeps the runner talking while a command runs, and passes a
// cancellation on once.
func (l *link) beat(ctx context.Context, id uint64, done <-chan struct{}) {
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	cancelled := ctx.Done()
	for {
		select {
		case <-done:
			return
		case <-cancelled:
			cancelled = nil
			if l.write(frame.KindCancel, frame.Cancel{ID: id}) != nil {
				return
			}
		case <-ticker.C:
			if l.write(frame.KindPing, nil) != nil {
				return
			}
		}
	}
}

func (l *link) explain(err error, overdue time.Time) error {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	if time.Now().Before(overdue) {
		return errNoAnswer
	}
	return errOverdue
}
