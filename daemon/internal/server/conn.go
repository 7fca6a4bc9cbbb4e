package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// conn is one client. Its goroutines are the reader (serve), the writer
// (outbox.run), one per request in flight and one per watch; serve waits for
// all of them.
type conn struct {
	s      *Server
	net    *net.UnixConn
	peer   rpc.Peer
	out    *outbox
	skills *skillNews
	tools  *toolNews
	slots  chan struct{} // one per request in flight, until its answer was written
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	session string        // random, as long as the connection lasts; nobody outside the daemon is told
	grant   *channelGrant // of the channel whose plugin is at the other end; nil for people

	mu      sync.Mutex
	role    rpc.Role
	shown   bool // the token of the grant
	wrong   int  // tokens that were none
	silent  bool // nothing more comes from the client
	past    pastime
	watches map[int64]*watch
	next    int64
	lends   map[string]bool // by the keys of runs, to which it lends its buffers
	wants   map[int64]chan<- rpc.BufferGiven
}

func newConn(s *Server, nc *net.UnixConn, peer rpc.Peer, granted *channelGrant, beyond bool) *conn {
	ctx, cancel := context.WithCancel(s.forced)
	out := newOutbox(nc, s.limits.Write, s.cfg.Redact)
	return &conn{
		s: s, net: nc, peer: peer, out: out, skills: &skillNews{out: out, busy: true}, tools: &toolNews{out: out, busy: true},
		slots: make(chan struct{}, s.limits.InFlight),
		ctx:   ctx, cancel: cancel, watches: map[int64]*watch{},
		lends: map[string]bool{}, wants: map[int64]chan<- rpc.BufferGiven{},
		session: rand.Text(), grant: granted, role: rpc.RoleSubmit,
		past: pastime{last: time.Now(), beyond: beyond},
	}
}

func (c *conn) serve() {
	written := make(chan struct{})
	go func() { c.out.run(); close(written) }()
	defer context.AfterFunc(c.s.draining, c.deafen)()
	if c.grant != nil {
		defer context.AfterFunc(c.grant.ctx, func() {
			c.cancel()
			c.deafen()
		})()
	}

	c.out.note(rpc.MethodHello, c.greeting(), func() {
		c.skills.sent()
		c.tools.sent()
	})
	if note := c.s.farewellNote(); note != nil {
		c.out.put(note, nil)
	}
	var ended error
	c.contain("reader", func() { ended = c.read() })
	c.hush()
	c.finish(ended)

	c.out.close()
	<-written
	_ = c.net.Close() // a broken connection is closed already
}

// contain runs a part of this connection. A panic in it ends the connection and
// nothing else: what one client sends is no reason for the others to suffer.
func (c *conn) contain(part string, f func()) {
	defer func() {
		if r := recover(); r != nil {
			c.s.log.Error("a connection panicked", "part", part, "pid", c.peer.PID, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			c.cancel()
			c.deafen()
		}
	}()
	f()
}

// deafen makes the reader return; what is at work goes on.
func (c *conn) deafen() {
	_ = c.net.CloseRead() // fails only when the connection is gone, which is as good
}

// read takes requests until the stream ends. io.EOF is a client that has no
// more to say, which may still wait for answers.
func (c *conn) read() error {
	frames := newFrameReader(c.net, c.s.limits)
	for {
		frame, err := frames.next()
		switch {
		case errors.Is(err, errTooLong):
			c.fail(nil, invalid(fmt.Sprintf("the message is longer than %d bytes: the connection is closed", c.s.limits.Frame)))
			return err
		case errors.Is(err, os.ErrDeadlineExceeded):
			c.fail(nil, invalid("the message did not come in time: the connection is closed"))
			return err
		case err != nil:
			return err
		}
		if c.s.draining.Err() != nil {
			c.fail(nil, rpc.Errorf(rpc.CodeBusy, sdk.Unavailable, "the daemon is stopping: try again"))
			return io.EOF
		}
		c.take(frame)
	}
}

// take checks a frame and starts its handler.
func (c *conn) take(frame []byte) {
	if err := checkFrame(frame, c.s.limits.Depth); err != nil {
		c.fail(nil, err)
		return
	}
	req, err := readRequest(frame)
	if err != nil {
		c.fail(req.ID, err)
		return
	}
	m, ok := c.s.methods[req.Method]
	if !ok {
		c.fail(req.ID, rpc.Errorf(rpc.CodeMethod, sdk.NotFound, fmt.Sprintf("there is no method %q: `discover` lists what there is", req.Method)))
		return
	}
	c.active()
	select {
	case c.slots <- struct{}{}:
	default:
		c.fail(req.ID, rpc.Errorf(rpc.CodeBusy, sdk.Unavailable, fmt.Sprintf("%d requests of this connection are at work: wait for an answer", cap(c.slots))))
		return
	}
	c.work.Add(1)
	go func() {
		defer c.work.Done()
		c.answer(req, m)
	}()
}

// fail answers from the reader. It waits until the line was written, so that a
// client that sends rubbish and reads nothing cannot fill the outbox.
func (c *conn) fail(id []byte, e *rpc.Error) {
	written := make(chan struct{})
	c.out.put(encodeResponse(id, nil, e), func() { close(written) })
	<-written
}

func (c *conn) answer(req rpc.Request, m method) {
	begin := time.Now()
	result, err := c.call(req, m)
	free := func() {
		c.active()
		<-c.slots
	}
	var failed *rpc.Error
	if err != nil {
		failed = rpc.ErrorOf(err)
	}
	c.s.log.Debug("call", "method", req.Method, "pid", c.peer.PID, "took", time.Since(begin), "error", err)
	if req.ID == nil {
		free()
		return
	}
	c.out.put(encodeResponse(req.ID, result, failed), free)
}

// call runs the handler. A panic fails this request alone.
func (c *conn) call(req rpc.Request, m method) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			c.s.log.Error("a handler panicked", "method", req.Method, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = rpc.Errorf(rpc.CodeInternal, sdk.Internal, fmt.Sprintf("%s failed inside the daemon: its log has the details", req.Method))
		}
	}()
	return m.call(c.ctx, c, req.Method, req.Params)
}

// finish waits for what is at work. A client that is gone cancels it; one that
// only closed its sending side, as `printf ... | nc -U` does, still gets its
// answers.
func (c *conn) finish(why error) {
	defer c.cancel()
	if !errors.Is(why, io.EOF) {
		c.cancel()
	}
	done := make(chan struct{})
	go func() { c.work.Wait(); close(done) }()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		if c.hungUp() {
			c.cancel()
		}
		select {
		case <-done:
			return
		case <-tick.C:
		}
	}
}

// hungUp reports whether the peer has closed both directions.
func (c *conn) hungUp() bool {
	raw, err := c.net.SyscallConn()
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

func (c *conn) addWatch(w *watch) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.watches) >= c.s.limits.Watches {
		return rpc.Errorf(rpc.CodeBusy, sdk.Unavailable, fmt.Sprintf("this connection already has %d watches: end one with journal/unwatch", c.s.limits.Watches))
	}
	c.next++
	w.id = c.next
	c.watches[w.id] = w
	return nil
}

func (c *conn) dropWatch(id int64) (*watch, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w, ok := c.watches[id]
	delete(c.watches, id)
	return w, ok
}
