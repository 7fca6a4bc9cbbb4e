package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sandbox/frame"
)

const (
	// lonely is how long the runner lives without a manager.
	lonely = 60 * time.Second
	// redial is the pause between two attempts to reach the manager.
	redial = 20 * time.Millisecond
	// handshakeLimit bounds the wait for the manager's Welcome.
	handshakeLimit = 5 * time.Second
)

// link is the runner's side of the connection to the manager.
type link struct {
	socket    string
	processes *processes
	oom       *oomCounter
	held      held

	// current and running are the command that runs; it outlives the link that
	// it came on.
	current current
	running sync.WaitGroup

	mu   sync.Mutex
	conn *net.UnixConn
}

// serve obeys one manager after the other, until none comes. A command whose
// manager went runs on, within its own time, until there is another one: how it
// ended in between is held, and what still runs then is killed.
func (l *link) serve() error {
	last := time.Now()
	for time.Since(last) < lonely {
		conn, err := dial(l.socket)
		if err != nil {
			time.Sleep(redial)
			continue
		}
		l.interrupt()
		if l.obey(conn) {
			last = time.Now()
		}
		time.Sleep(redial)
	}
	return nil
}

// interrupt ends what an earlier manager left running. A manager that is
// greeted may look at what commands changed: nothing is alive by then.
func (l *link) interrupt() {
	l.current.interrupt()
	l.running.Wait()
	l.processes.killAll(killLimit)
}

// dial connects to the manager and lets the kernel prove that it is one: a
// process outside this PID namespace has no pid in it.
func dial(socket string) (*net.UnixConn, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := checkPeer(conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

func checkPeer(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if credErr != nil {
		return credErr
	}
	if cred.Pid != 0 {
		return fmt.Errorf("the socket belongs to process %d of this container", cred.Pid)
	}
	return nil
}

// obey serves one connection to its end; it answers whether a manager was
// there.
func (l *link) obey(conn *net.UnixConn) bool {
	defer func() { _ = conn.Close() }()
	l.mu.Lock()
	l.conn = conn
	l.mu.Unlock()

	buf := make([]byte, 4096)
	welcome, err := l.greet(buf)
	if err != nil {
		return false
	}
	for {
		kind, payload, err := frame.Read(conn, buf)
		if err != nil {
			return true
		}
		switch kind {
		case frame.KindExec:
			var exec frame.Exec
			if frame.Decode(payload, &exec) != nil {
				return true
			}
			l.execute(exec, welcome.Mounts)
		case frame.KindCancel:
			var cancel frame.Cancel
			if frame.Decode(payload, &cancel) != nil {
				return true
			}
			l.current.cancel(cancel.ID)
		case frame.KindSettle:
			var settle frame.Settle
			if frame.Decode(payload, &settle) != nil || l.settle(settle) != nil {
				return true
			}
		case frame.KindPing:
			if frame.Write(l, frame.KindPong, nil) != nil {
				return true
			}
		default:
			return true
		}
	}
}

func (l *link) greet(buf []byte) (frame.Welcome, error) {
	var welcome frame.Welcome
	if err := l.conn.SetDeadline(time.Now().Add(handshakeLimit)); err != nil {
		return welcome, err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return welcome, err
	}
	if err := frame.WriteJSON(l, frame.KindHello, frame.Hello{Version: frame.Version, Places: places(), Filters: frame.Filters(status)}); err != nil {
		return welcome, err
	}
	kind, payload, err := frame.Read(l.conn, buf)
	if err != nil {
		return welcome, err
	}
	if kind != frame.KindWelcome {
		return welcome, frame.ErrMalformed
	}
	if err := frame.Decode(payload, &welcome); err != nil {
		return welcome, err
	}
	if welcome.Version != frame.Version {
		return welcome, errors.New("the manager speaks another version")
	}
	return welcome, l.conn.SetDeadline(time.Time{})
}

// execute runs a command beside the reading of the link, so that it can be
// cancelled; a second command while one runs is refused. How it ended is held
// before it is sent: the manager may be gone.
func (l *link) execute(exec frame.Exec, mounts []string) {
	ctx, ok := l.current.begin(context.Background(), exec.ID)
	if !ok {
		_ = frame.WriteJSON(l, frame.KindExit, frame.Exit{ID: exec.ID, Error: "another command is still running"})
		return
	}
	entry := l.held.begin(exec.Call, exec.TimeoutMS)
	l.running.Go(func() {
		c := command{Exec: exec, processes: l.processes, oom: l.oom, mounts: mounts, send: l.send, held: entry}
		out := c.run(ctx)
		l.held.end(entry, out)
		l.current.end()
		_ = frame.WriteJSON(l, frame.KindExit, out)
	})
}

// settle tells what is held of a call.
func (l *link) settle(asked frame.Settle) error {
	entry, exit, ok := l.held.find(asked.Call)
	if !ok {
		return frame.WriteJSON(l, frame.KindSettled, frame.Settled{ID: asked.ID})
	}
	if err := entry.stdout.send(asked.ID, frame.Stdout, l.send); err != nil {
		return err
	}
	if err := entry.stderr.send(asked.ID, frame.Stderr, l.send); err != nil {
		return err
	}
	return frame.WriteJSON(l, frame.KindSettled, frame.Settled{ID: asked.ID, Known: true, TimeoutMS: entry.timeoutMS, Exit: exit})
}

// Write sends one whole frame.
func (l *link) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conn.Write(b)
}

func (l *link) send(b []byte) error {
	_, err := l.Write(b)
	return err
}

// current is the command that runs, if one does.
type current struct {
	mu   sync.Mutex
	id   uint64
	stop context.CancelFunc
}

func (c *current) begin(ctx context.Context, id uint64) (context.Context, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop != nil {
		return nil, false
	}
	ctx, c.stop = context.WithCancel(ctx)
	c.id = id
	return ctx, true
}

func (c *current) cancel(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop != nil && c.id == id {
		c.stop()
	}
}

// interrupt ends the command, whichever it is.
func (c *current) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop != nil {
		c.stop()
	}
}

func (c *current) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop != nil {
		c.stop()
		c.stop = nil
	}
}
