// Package client speaks to the daemon's socket. The zero Client works: it
// finds the socket as the daemon does and connects at the first call.
//
//	var c client.Client
//	defer c.Close()
//	status, err := c.Status(ctx)
//
// A prompt is answered at once; what it causes is followed in the journal:
//
//	accepted, err := c.Act(ctx, rpc.Prompt{Project: dir, Prompt: "run the tests"})
//	err = c.Follow(ctx, client.Watch{Run: accepted.ID, After: accepted.Seq}, func(e client.Event) error { ... })
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Client calls the daemon. It may be used from several goroutines; their calls
// share one connection, which is made anew when it broke. Follow takes a
// connection of its own.
type Client struct {
	// Socket is the path to connect to; empty is where rpc.FindSocket points.
	Socket string
	// Dial makes the connection; nil dials Socket and checks that the daemon
	// runs as the caller. Tests and starters of daemons set it.
	Dial func(ctx context.Context) (net.Conn, error)
	// Name is how the client introduces itself; empty is "client".
	Name string
	// Role is what the client may do; empty is rpc.RoleSubmit. For approve and admin
	// it reads the daemon's token, which lies beside the socket, each time it
	// connects.
	Role rpc.Role
	// Token is what a channel was lent: it goes into the hello as it is, and Role
	// is left empty. Tokens of roles are read from their files instead.
	Token string
	// AnyProtocol lets the client talk to a daemon of another major protocol.
	// Only Stop is sure to be understood then.
	AnyProtocol bool

	mu    sync.Mutex
	link  *link
	hello rpc.Hello
}

// NotRunningError says that no daemon answered at the socket.
type NotRunningError struct {
	Socket string
	Cause  error
}

func (e *NotRunningError) Error() string {
	return fmt.Sprintf("no bothyd answers at %s: start one with `bothyd`, or call `bothy run`, which does", e.Socket)
}

// Unwrap returns what the dial said.
func (e *NotRunningError) Unwrap() error { return e.Cause }

// VersionError says that the daemon speaks another major protocol.
type VersionError struct {
	Daemon rpc.Hello
}

func (e *VersionError) Error() string {
	remedy := "upgrade this client to the version of the daemon"
	if rpc.Older(e.Daemon.Protocol) {
		remedy = "run `bothy stop`, and the next call starts the bothyd that fits"
	}
	return fmt.Sprintf("bothyd %s (pid %d) speaks protocol %s and this client, %s, speaks %s: %s",
		e.Daemon.Version, e.Daemon.PID, e.Daemon.Protocol, sdk.Version, rpc.Protocol, remedy)
}

// Call calls any method. params and result may be nil; an error that the
// daemon answered is an *rpc.Error.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	l, err := c.connected(ctx)
	if err != nil {
		return err
	}
	raw, err := l.call(ctx, method, params)
	if err != nil {
		return err
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("answer of %s: %w", method, err)
	}
	return nil
}

// Hello connects, if need be, and returns the daemon's greeting.
func (c *Client) Hello(ctx context.Context) (rpc.Hello, error) {
	if _, err := c.connected(ctx); err != nil {
		return rpc.Hello{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hello, nil
}

// Close ends the connection and with it the calls in flight. The client may be
// used again.
func (c *Client) Close() error {
	c.mu.Lock()
	l := c.link
	c.link = nil
	c.mu.Unlock()
	if l == nil {
		return nil
	}
	return l.close()
}

// connected returns the shared connection, making it when there is none.
func (c *Client) connected(ctx context.Context) (*link, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != nil && !c.link.broken() {
		return c.link, nil
	}
	if c.link != nil {
		_ = c.link.close() // it is broken; why was told to its calls
	}
	l, hello, err := c.open(ctx, nil)
	c.link, c.hello = l, hello
	return l, err
}

// open dials and greets. notes receives what the daemon sends unasked; nil
// drops it.
func (c *Client) open(ctx context.Context, notes chan<- rpc.Request) (*link, rpc.Hello, error) {
	dial := c.Dial
	if dial == nil {
		dial = c.dial
	}
	conn, err := dial(ctx)
	if err != nil {
		return nil, rpc.Hello{}, err
	}
	l := newLink(conn, notes)
	hello, err := c.greet(ctx, l)
	if err != nil {
		return nil, hello, errors.Join(err, l.close())
	}
	return l, hello, nil
}

func (c *Client) greet(ctx context.Context, l *link) (rpc.Hello, error) {
	var hello rpc.Hello
	select {
	case hello = <-l.hello:
	case <-l.done:
		return hello, l.why()
	case <-ctx.Done():
		return hello, fmt.Errorf("waiting for the daemon's greeting: %w", ctx.Err())
	}
	if c.AnyProtocol && c.Role == "" && c.Token == "" {
		return hello, nil
	}
	if !c.AnyProtocol && rpc.CheckProtocol(rpc.Protocol, hello.Protocol) != nil {
		return hello, &VersionError{Daemon: hello}
	}
	params, err := c.introduction(ctx, l, hello)
	if err != nil {
		return hello, err
	}
	raw, err := l.call(ctx, rpc.MethodHello, params)
	var refused *rpc.Error
	if c.AnyProtocol && errors.As(err, &refused) && refused.Code != rpc.CodeRole {
		return hello, nil // it does not understand this; what is asked of it is for it to refuse
	}
	if errors.As(err, &refused) && refused.Code == rpc.CodeProtocol {
		return hello, &VersionError{Daemon: hello}
	}
	if err != nil {
		return hello, err
	}
	if err := json.Unmarshal(raw, &hello); err != nil {
		return hello, fmt.Errorf("the daemon's greeting: %w", err)
	}
	return hello, nil
}

// socket is the path to connect to.
func (c *Client) socket() (string, error) {
	if c.Socket != "" {
		return c.Socket, nil
	}
	return rpc.FindSocket(os.Getenv)
}

// dial connects to the socket and makes sure that it is the caller's own
// daemon that answers: what is said to it is private.
func (c *Client) dial(ctx context.Context) (net.Conn, error) {
	path, err := c.socket()
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, &NotRunningError{Socket: path, Cause: err}
	}
	peer, err := rpc.PeerOf(conn.(*net.UnixConn))
	if err == nil && peer.UID != os.Geteuid() {
		err = fmt.Errorf("the daemon at %s belongs to uid %d, not to you: set XDG_RUNTIME_DIR to a directory of yours", path, peer.UID)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}
