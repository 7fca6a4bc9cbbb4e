package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// conn is one client. Its goroutines are the reader (serve), the writer
// (outbox.run), one per request in flight and one per watch; serve waits for
// all of them.
type conn struct {
	s      *Server
	line   transport
	peer   rpc.Peer
	out    *outbox
	sent   *sent
	skills *skillNews
	tools  *toolNews
	slots  chan struct{} // one per request in flight, until its answer was written
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup
	begun  *settled // the last init; only the reader uses it

	session string        // random, as long as the connection lasts; nobody outside the daemon is told
	grant   *channelGrant // of the channel whose plugin is at the other end; nil for people

	last chan struct{} // closed when the last message was done that has its place in order; the reader's own

	mu      sync.Mutex
	role    rpc.Role
	shown   bool // the token of the grant
	wrong   int  // tokens that were none
	silent  bool // nothing more comes from the client
	past    pastime
	watches map[int64]*watch
	next    int64
	home    home            // where init put it
	lends   map[string]bool // by the keys of runs, to which it lends its buffers
	wants   map[int64]chan<- rpc.BufferGiven
}

func newConn(s *Server, line transport, from caller, beyond bool) *conn {
	ctx, cancel := context.WithCancel(s.forced)
	out := newOutbox(line, s.cfg.Redact)
	first := make(chan struct{})
	close(first)
	return &conn{
		last: first,
		s:    s, line: line, peer: from.peer, out: out, sent: &sent{}, skills: &skillNews{out: out, busy: true}, tools: &toolNews{out: out, busy: true},
		slots: make(chan struct{}, s.limits.InFlight),
		ctx:   ctx, cancel: cancel, watches: map[int64]*watch{},
		lends: map[string]bool{}, wants: map[int64]chan<- rpc.BufferGiven{},
		session: rand.Text(), grant: from.grant, role: from.role, shown: from.shown,
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

	if _, web := c.line.(*webSocket); web {
		c.out.note(rpc.NoteGreeting, rpc.Greeting{RummyVersion: rpc.RummyVersion}, nil)
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
	c.line.close()
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
func (c *conn) deafen() { c.line.deafen() }

// read takes requests until the stream ends. io.EOF is a client that has no
// more to say, which may still wait for answers.
func (c *conn) read() error {
	for {
		frame, err := c.line.next()
		switch {
		case errors.Is(err, errTooLong):
			c.fail(nil, tooLong(c.s.limits))
			return err
		case errors.Is(err, errNoText):
			c.fail(nil, invalid("a message is a text: the connection is closed"))
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

func tooLong(l Limits) *rpc.Error {
	return invalid(fmt.Sprintf("the message is longer than %d bytes: the connection is closed", l.Frame))
}

// take checks a message and starts its handler.
func (c *conn) take(frame []byte) {
	if err := checkFrame(frame, c.s.limits.Depth); err != nil {
		c.fail(nil, err)
		return
	}
	calls, batch, err := readMessage(frame, c.s.limits.Batch)
	if err != nil {
		c.fail(nil, err)
		return
	}
	if failed := c.unknown(calls[0]); failed != nil && !batch {
		if !calls[0].notifies() {
			c.fail(calls[0].ID, failed)
		}
		return
	}
	c.active()
	before, done := c.place(calls)
	switch {
	case before != nil || inits(calls): // it waits for a slot: what a command prints comes fast, and a piece that is refused would be lost; what is behind an init would go elsewhere
		if !c.awaitSlot() {
			if done != nil {
				close(done)
			}
			return
		}
	case !c.slot():
		id := calls[0].ID
		if batch {
			id = nil // of all of it
		}
		c.fail(id, rpc.Errorf(rpc.CodeBusy, sdk.Unavailable, fmt.Sprintf("%d requests of this connection are at work: wait for an answer", cap(c.slots))))
		return
	}
	c.work.Add(1)
	begun, answered := c.settle(calls)
	if !c.s.hooks.wantMessages() {
		frame = nil // its requests have what counts
	}
	go func() {
		defer c.work.Done()
		defer answered()
		var shown []sentProposal
		free := func() {
			c.sent.note(shown)
			c.active()
			<-c.slots
		}
		if before != nil {
			<-before
			defer close(done)
		}
		c.ready(frame, calls, begun)
		text := c.answerAll(calls, batch, &shown)
		if text == nil {
			free()
			return
		}
		c.out.put(text, free)
	}()
}

// slot takes a slot; false is that all are taken. An answer that was just written may hold one still, which the client has and
// goes by: its end is waited for.
func (c *conn) slot() bool {
	if len(c.slots) == cap(c.slots) {
		c.out.told()
	}
	select {
	case c.slots <- struct{}{}:
		return true
	default:
		return false
	}
}

// awaitSlot waits for a slot; false is a connection that ends. Nobody reads meanwhile, which would tell that the
// client has gone.
func (c *conn) awaitSlot() bool {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case c.slots <- struct{}{}:
			return true
		case <-c.ctx.Done():
			return false
		case <-tick.C:
			if c.line.hungUp() {
				c.cancel()
			}
		}
	}
}

// place is that of a message among those which are done in order: before is closed when its turn has come, and it closes
// done. Both are nil of any other.
func (c *conn) place(calls []call) (before <-chan struct{}, done chan struct{}) {
	if !ordered(calls) {
		return nil, nil
	}
	before, done = c.last, make(chan struct{})
	c.last = done
	return before, done
}

// unknown is why a request cannot be called at all.
func (c *conn) unknown(x call) *rpc.Error {
	if x.failed != nil {
		return x.failed
	}
	if _, ok := c.s.methods[x.Method]; !ok {
		return rpc.Errorf(rpc.CodeMethod, sdk.NotFound, fmt.Sprintf("there is no method %q: `discover` lists what there is", x.Method))
	}
	return nil
}

// fail answers from the reader. It waits until the line was written, so that a
// client that sends rubbish and reads nothing cannot fill the outbox.
func (c *conn) fail(id []byte, e *rpc.Error) {
	written := make(chan struct{})
	c.out.put(encodeResponse(id, nil, e), func() { close(written) })
	<-written
}

// answerAll is the text of the answer to a message, nil when it asked for none. The requests of a
// batch are done in their order, one after the other.
func (c *conn) answerAll(calls []call, batch bool, shown *[]sentProposal) []byte {
	if !batch {
		return c.answer(calls[0], shown)
	}
	var list []byte
	for _, x := range calls {
		var text []byte
		if len(list) > c.s.limits.BatchAnswer {
			if x.ID != nil {
				text = encodeResponse(x.ID, nil, rpc.Errorf(rpc.CodeBusy, sdk.Overflow, "the answers before this one are long, so this request was not done: send it by itself"))
			}
		} else {
			text = c.answer(x, shown)
		}
		if text != nil {
			list = append(append(list, ','), text...)
		}
	}
	if list == nil {
		return nil
	}
	list[0] = '['
	return append(list, ']')
}

// answer is the text of the answer to one request, nil when it asked for none. What it tells of proposals is
// added to shown.
func (c *conn) answer(x call, shown *[]sentProposal) []byte {
	if failed := c.unknown(x); failed != nil {
		if x.notifies() {
			return nil
		}
		return encodeResponse(x.ID, nil, failed)
	}
	begin := time.Now()
	result, err := any(nil), x.refused
	if err == nil {
		result, err = c.call(x.ctx, x.Request, c.s.methods[x.Method])
	}
	var failed *rpc.Error
	if err != nil {
		failed = rpc.ErrorOf(err)
	}
	if err != nil && x.Method == rpc.MethodInit {
		c.leave()
	}
	c.s.log.Debug("call", "method", x.Method, "pid", c.peer.PID, "took", time.Since(begin), "error", err)
	if x.ID == nil {
		return nil
	}
	if failed == nil {
		*shown = append(*shown, proposalsIn(result)...)
	}
	return encodeResponse(x.ID, result, failed)
}

// call runs the handler. A panic fails this request alone.
func (c *conn) call(ctx context.Context, req rpc.Request, m method) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			c.s.log.Error("a handler panicked", "method", req.Method, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = rpc.Errorf(rpc.CodeInternal, sdk.Internal, fmt.Sprintf("%s failed inside the daemon: its log has the details", req.Method))
		}
	}()
	if err := c.s.hooks.request(ctx, c, req); err != nil {
		return nil, err
	}
	result, err = m.call(ctx, c, req.Method, req.Params)
	return c.s.hooks.answer(ctx, c, req, result, err)
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
		if c.line.hungUp() {
			c.cancel()
		}
		select {
		case <-done:
			return
		case <-tick.C:
		}
	}
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
