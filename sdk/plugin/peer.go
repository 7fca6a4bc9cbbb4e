package plugin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/bothyd/bothy/sdk/rpc"
)

// Peer is the process at the other end of a Unix socket, as the kernel tells.
type Peer = rpc.Peer

// PeerOf asks the kernel who is at the other end of conn. The answer is of the
// moment in which the connection was made.
func PeerOf(conn net.Conn) (Peer, error) {
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return Peer{}, errors.New("the connection is no Unix socket: its peer cannot be known")
	}
	return rpc.PeerOf(socket)
}

// PeerCredentials are transport credentials for Unix sockets: each connection
// is admitted by check or refused. They encrypt nothing, for the socket never
// leaves the machine. opened, when not nil, is told of each connection and
// returns what to call when it closes.
func PeerCredentials(check func(Peer) error, opened func() (closed func())) credentials.TransportCredentials {
	return peerCredentials{check: check, opened: opened}
}

const (
	// window is how much may be under way unread. That it is fixed spares each call
	// a ping, with which gRPC would measure a network that is not there.
	window = 1 << 20
	// workers serve calls one after the other, so that few need a goroutine, and
	// its stack, of their own. More calls at a time than that get one. Streams that last
	// as long as the plugin take one each.
	workers = 8
)

// ServerOptions are the options of every gRPC server of the plugin protocol.
func ServerOptions(creds credentials.TransportCredentials) []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.Creds(creds), grpc.MaxRecvMsgSize(MaxMessage), grpc.MaxSendMsgSize(MaxMessage),
		grpc.StaticStreamWindowSize(window), grpc.StaticConnWindowSize(window), grpc.NumStreamWorkers(workers),
	}
}

// DialOptions are the options of every gRPC connection of the plugin protocol.
// A connection never goes idle, for its end means the end of the process.
func DialOptions(creds credentials.TransportCredentials) []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithTransportCredentials(creds), grpc.WithIdleTimeout(0), grpc.WithDisableRetry(),
		grpc.WithStaticStreamWindowSize(window), grpc.WithStaticConnWindowSize(window),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxMessage), grpc.MaxCallSendMsgSize(MaxMessage)),
	}
}

type peerCredentials struct {
	check  func(Peer) error
	opened func() func()
}

// peerInfo is what a handler finds about a connection.
type peerInfo struct {
	credentials.CommonAuthInfo
	Peer
}

// AuthType implements credentials.AuthInfo.
func (peerInfo) AuthType() string { return "peercred" }

func (c peerCredentials) ClientHandshake(_ context.Context, _ string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return c.handshake(conn)
}

func (c peerCredentials) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return c.handshake(conn)
}

func (c peerCredentials) handshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	p, err := PeerOf(conn)
	if err == nil {
		err = c.check(p)
	}
	if err != nil {
		_ = conn.Close() // the refusal is what counts
		return nil, nil, fmt.Errorf("the connection is refused: %w", err)
	}
	if c.opened != nil {
		conn = &watchedConn{Conn: conn, closed: sync.OnceFunc(c.opened())}
	}
	return conn, peerInfo{Peer: p, CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity}}, nil
}

func (c peerCredentials) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "peercred"}
}

func (c peerCredentials) Clone() credentials.TransportCredentials { return c }

func (c peerCredentials) OverrideServerName(string) error { return nil }

// watchedConn tells when it is closed, once.
type watchedConn struct {
	net.Conn
	closed func()
}

func (c *watchedConn) Close() error {
	err := c.Conn.Close()
	c.closed()
	return err
}
