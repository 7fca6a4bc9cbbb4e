package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/bothyd/bothy/sdk/rpc"
)

// maxFrame is the longest message the client takes from its daemon: a tool's
// whole output of 10 MB, written as JSON and once more in its metadata.
const maxFrame = 128 << 20

// ErrDisconnected says that the connection ended before an answer came. What
// was asked may have happened: the journal tells.
var ErrDisconnected = errors.New("the daemon closed the connection")

// ErrStopped is an ErrDisconnected of a daemon that said before that it stops:
// what it was working on goes on at its next start.
var ErrStopped = fmt.Errorf("the daemon was stopped: %w", ErrDisconnected)

// link is one connection with its reader. Only the reader sends on hello and
// notes; mu guards waiting and err.
type link struct {
	conn  net.Conn
	notes chan<- rpc.Request // closed when the reader ends
	hello chan rpc.Hello     // the greeting, once
	stop  chan struct{}      // closed by close, so that the reader does not wait for a follower
	done  chan struct{}      // closed when the reader has ended

	writing sync.Mutex // held for one whole line; never together with mu

	mu      sync.Mutex
	next    int64
	waiting map[string]chan rpc.Response
	err     error
	stopped bool // the daemon said that it stops
	closing sync.Once
}

func newLink(conn net.Conn, notes chan<- rpc.Request) *link {
	l := &link{
		conn: conn, notes: notes, hello: make(chan rpc.Hello, 1),
		stop: make(chan struct{}), done: make(chan struct{}),
		waiting: map[string]chan rpc.Response{},
	}
	go l.read()
	return l
}

func (l *link) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	if params == nil {
		params = rpc.Empty{}
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("parameters of %s: %w", method, err)
	}
	id, answer := l.expect()
	defer l.forget(id)
	line, err := json.Marshal(rpc.Request{JSONRPC: rpc.Version2, ID: json.RawMessage(id), Method: method, Params: raw})
	if err != nil {
		return nil, fmt.Errorf("request %s: %w", method, err)
	}
	l.send(ctx, append(line, '\n'))
	select {
	case resp := <-answer:
		if resp.Error != nil {
			return nil, resp.Error
		}
		return resp.Result, nil
	case <-l.done:
		return nil, l.why()
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: %w", method, ctx.Err())
	}
}

// send writes a line. An error of the write is not told: the daemon may have
// said why it closed, and that is what the reader will find.
func (l *link) send(ctx context.Context, line []byte) {
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(30 * time.Second)
	}
	l.writing.Lock()
	_ = l.conn.SetWriteDeadline(deadline) // fails only when the connection is closed, as the write then does
	_, err := l.conn.Write(line)
	l.writing.Unlock()
	if err == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = fmt.Errorf("%w: %w", ErrDisconnected, err)
		// The reader gets a moment to find the daemon's last words, and then ends.
		_ = l.conn.SetReadDeadline(time.Now().Add(time.Second))
	}
}

func (l *link) expect() (string, <-chan rpc.Response) {
	answer := make(chan rpc.Response, 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	id := strconv.FormatInt(l.next, 10)
	l.waiting[id] = answer
	return id, answer
}

func (l *link) forget(id string) {
	l.mu.Lock()
	delete(l.waiting, id)
	l.mu.Unlock()
}

// message is whatever the daemon sends: a notification has a method.
type message struct {
	rpc.Request
	Result json.RawMessage `json:"result"`
	Error  *rpc.Error      `json:"error"`
}

func (l *link) read() {
	defer close(l.done)
	if l.notes != nil {
		defer close(l.notes)
	}
	lines := bufio.NewReaderSize(l.conn, 64<<10)
	for {
		line, err := readLine(lines)
		if err != nil {
			l.end(err)
			return
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			l.end(fmt.Errorf("a message of the daemon is no JSON: %w", err))
			return
		}
		if m.Method == "" {
			if !l.deliver(m) {
				return
			}
		} else if !l.note(m.Request) {
			return
		}
	}
}

func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxFrame {
			return nil, fmt.Errorf("a message of the daemon is longer than %d bytes", maxFrame)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// deliver hands an answer to its call. One without an id is about the
// connection itself, and the last thing on it.
func (l *link) deliver(m message) bool {
	if string(m.ID) == "null" || m.ID == nil {
		var err error = ErrDisconnected
		if m.Error != nil {
			err = m.Error
		}
		l.end(err)
		return false
	}
	l.mu.Lock()
	answer := l.waiting[string(m.ID)]
	delete(l.waiting, string(m.ID))
	l.mu.Unlock()
	if answer != nil {
		answer <- rpc.Response{ID: m.ID, Result: m.Result, Error: m.Error}
	}
	return true
}

func (l *link) note(n rpc.Request) bool {
	if n.Method == rpc.MethodHello {
		var hello rpc.Hello
		if err := json.Unmarshal(n.Params, &hello); err != nil {
			l.end(fmt.Errorf("the daemon's greeting: %w", err))
			return false
		}
		select {
		case l.hello <- hello:
		default:
		}
		return true
	}
	if n.Method == rpc.NoteStopping {
		l.mu.Lock()
		l.stopped = true
		l.mu.Unlock()
		return true
	}
	if l.notes == nil {
		return true
	}
	select {
	case l.notes <- n:
		return true
	case <-l.stop:
		l.end(ErrDisconnected)
		return false
	}
}

// end records why the link ended. The daemon's own words win over an error of
// the connection.
func (l *link) end(err error) {
	for _, ended := range []error{io.EOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, ended) {
			err = ErrDisconnected
			break
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var said *rpc.Error
	if l.err == nil || errors.As(err, &said) {
		l.err = err
	}
}

func (l *link) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.err
	if err == nil {
		err = ErrDisconnected
	}
	if l.stopped && errors.Is(err, ErrDisconnected) {
		return ErrStopped
	}
	return err
}

func (l *link) broken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.done:
		return true
	default:
		return l.err != nil
	}
}

func (l *link) close() error {
	l.closing.Do(func() { close(l.stop) })
	err := l.conn.Close()
	<-l.done
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
