package server

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

const ping = `{"jsonrpc":"2.0","id":"p","method":"ping"}` + "\n"

// crowded is a server with room for few connections, whose peers have the pid that
// is set when they connect.
func crowded(t *testing.T, room int) (h *house, pid *atomic.Int64) {
	t.Helper()
	pid = &atomic.Int64{}
	h = open(t, func(c *Config) {
		c.Limits.Connections, c.Limits.FirstByte = room, time.Hour
		c.Peer = func(nc *net.UnixConn) (rpc.Peer, error) {
			p, err := rpc.PeerOf(nc)
			p.PID = int(pid.Load())
			return p, err
		}
	})
	return h, pid
}

// joins connects as a process and says something.
func (h *house) joins(t *testing.T, pid *atomic.Int64, as int64, says string) *raw {
	t.Helper()
	pid.Store(as)
	r := h.dial(t)
	if m, err := r.next(); err != nil || m.Method != rpc.MethodHello {
		t.Fatalf("%+v %v", m, err)
	}
	if says != "" {
		r.send(says)
		if m := r.answer(); m.Error != nil {
			t.Fatal(m.Error)
		}
	}
	return r
}

// settles waits until the server has noted that its answers were written, but for those to
// requests at work: a client has read one a moment before that.
func (h *house) settles(t *testing.T, working int) {
	t.Helper()
	eventually(t, "the answers are written", func() bool {
		n := 0
		for _, c := range h.all() {
			n += len(c.slots)
		}
		return n == working
	})
}

// gaveUp fails unless the connection was ended for another one.
func (r *raw) gaveUp() {
	r.t.Helper()
	r.wantError(rpc.CodeBusy, "already has")
	r.closed()
}

// TestSilentConnectionsMakeRoom: who opens 200 and says nothing keeps nobody out,
// and the cap holds.
func TestSilentConnectionsMakeRoom(t *testing.T) {
	h := open(t, nil)
	var all []*raw
	for range 200 {
		r := h.dial(t)
		if m, err := r.next(); err != nil || m.Method != rpc.MethodHello {
			t.Fatalf("%+v %v", m, err)
		}
		all = append(all, r)
	}
	if n := h.connections(); n != 64 {
		t.Errorf("%d connections, want 64", n)
	}
	for _, r := range all[:136] {
		r.gaveUp()
	}
	if err := h.client(t).Ping(context.Background()); err != nil {
		t.Error(err)
	}
	all[136].gaveUp()
	all[199].send(ping)
	if m := all[199].answer(); m.Error != nil {
		t.Error(m.Error)
	}
	for _, r := range all {
		_ = r.conn.Close()
	}
	eventually(t, "the connections are gone", func() bool { return h.connections() == 1 })
}

// TestAProcessWithManyMakesRoom: its idle connections first, then those that only
// watch, and never one that waits for an answer.
func TestAProcessWithManyMakesRoom(t *testing.T) {
	h, pid := crowded(t, 5)
	release := make(chan struct{})
	begun := make(chan struct{}, 1)
	h.engine.tool = func(context.Context, rpc.ToolCall) (rpc.ToolDone, error) {
		begun <- struct{}{}
		<-release
		return rpc.ToolDone{}, nil
	}
	end := sync.OnceFunc(func() { close(release) })
	defer end()
	const many = 1
	busy := h.joins(t, pid, many, ping)
	busy.send(`{"jsonrpc":"2.0","id":"t","method":"tools/call","params":{"project":"/p","tool":"x"}}` + "\n")
	<-begun
	watching := h.joins(t, pid, many, `{"jsonrpc":"2.0","id":"w","method":"journal/watch","params":{}}`+"\n")
	h.settles(t, 1)
	first := h.joins(t, pid, many, ping)
	h.settles(t, 1)
	second := h.joins(t, pid, many, ping)
	person := h.joins(t, pid, many, hello(h.token(t, rpc.RoleApprove), ""))
	h.settles(t, 1)

	h.joins(t, pid, 2, ping)
	first.gaveUp()
	h.joins(t, pid, 3, ping)
	second.gaveUp()
	h.joins(t, pid, 4, ping)
	watching.gaveUp()
	person.send(ping)
	if m := person.answer(); m.Error != nil {
		t.Error(m.Error)
	}
	end()
	if m := busy.answer(); m.Error != nil {
		t.Error(m.Error)
	}
}

// TestThereIsAlwaysRoomForAPerson: where nobody gives a place up, who shows a token
// has one, and nobody else.
func TestThereIsAlwaysRoomForAPerson(t *testing.T) {
	h, pid := crowded(t, 3)
	for as := range int64(3) {
		h.joins(t, pid, 100+as, ping)
	}
	for as := range int64(3) {
		for _, says := range []string{ping, hello("", "")} {
			r := h.joins(t, pid, 200+as, "")
			r.send(says)
			r.gaveUp()
		}
	}
	eventually(t, "they are gone", func() bool { return h.connections() == 3 })
	for as := range int64(reserved) {
		pid.Store(300 + as)
		if err := h.client(t).Ping(context.Background()); err != nil {
			t.Errorf("a person: %v", err)
		}
	}
	pid.Store(400)
	r := h.dial(t)
	r.wantError(rpc.CodeBusy, "already has 3 connections")
	r.closed()
	if err := (&client.Client{Socket: h.path, Role: rpc.RoleAdmin}).Ping(context.Background()); err == nil {
		t.Error("there is room without end")
	}
}

// lingering is a transport that takes its time to end.
type lingering struct {
	post
	end chan struct{}
}

func (l *lingering) next() ([]byte, error) {
	<-l.end
	return nil, io.EOF
}

func (l *lingering) close() { <-l.end }

// TestGivingUpIsNotWaitedFor: who comes gets the place of a connection that takes its time to end.
func TestGivingUpIsNotWaitedFor(t *testing.T) {
	h, _ := crowded(t, 1)
	line := &lingering{post{ctx: context.Background()}, make(chan struct{})}
	c, full := h.seat(line, caller{role: rpc.RoleSubmit})
	if full != nil {
		t.Fatal(full)
	}
	go h.keep(c, nil)
	seated := make(chan struct{})
	go func() {
		defer close(seated)
		if err := h.client(t).Ping(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	select {
	case <-seated:
	case <-time.After(20 * time.Second):
		t.Error("nobody is let in while a connection ends")
	}
	close(line.end)
	<-seated
}
