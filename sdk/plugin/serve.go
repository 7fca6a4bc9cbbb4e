package plugin

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/bothyd/bothy/sdk/internal/wire"
)

// serve listens where the daemon says, prints the handshake and blocks until the
// daemon ends the plugin or is gone. It speaks what go-plugin's client expects
// (docs/plugin-protocol.md; ADR 37 says why without go-plugin).
//
// From the handshake on, what is printed goes to standard error: the daemon reads
// no second line, and standard error is its log.
func serve(o Options, stdout io.Writer) error {
	address := filepath.Join(socketDir(), fmt.Sprintf("plugin%d", os.Getpid()))
	listener, err := net.Listen("unix", address)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // a server that served has closed it
	s := newService(o)
	defer s.close()
	link := &daemonLink{exit: os.Exit}
	server := s.server(PeerCredentials(onlyDaemon(hostPID()), link.opened))
	serveControl(server)
	link.onLost(server.Stop)

	// It is the daemon that ends a plugin, also when Ctrl-C reaches both, and a plugin
	// closes in order when the daemon that reads what it prints is gone. That the signals
	// are heard, to the end, and not ignored lets its own processes hear them as ever.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGPIPE)

	if _, err := fmt.Fprintf(stdout, "%d|%d|unix|%s|grpc\n", wire.CoreProtocol, Protocol, address); err != nil {
		return err
	}
	os.Stdout = os.Stderr
	defer runtime.KeepAlive(stdout) // its descriptor stays open: nothing else is to get the number
	return server.Serve(listener)
}

// socketDir is where the daemon looks for the socket.
func socketDir() string {
	if dir := os.Getenv(wire.EnvSocketDir); dir != "" {
		return dir
	}
	return os.TempDir()
}

// server serves all kinds that the binary has to whom creds admit.
func (s *service) server(creds credentials.TransportCredentials) *grpc.Server {
	server := grpc.NewServer(append(ServerOptions(creds),
		grpc.ChainUnaryInterceptor(s.unary), grpc.ChainStreamInterceptor(s.stream))...)
	s.register(server)
	return server
}

// serveControl serves what go-plugin's client asks besides: whether the plugin is
// well, and that it end.
func serveControl(server *grpc.Server) {
	well := health.NewServer()
	well.SetServingStatus(wire.HealthService, grpc_health_v1.HealthCheckResponse_SERVING)
	grpc_health_v1.RegisterHealthServer(server, well)
	shutdown := func(_ any, _ context.Context, read func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		m := &emptypb.Empty{}
		go server.Stop() // nobody waits for the answer
		return m, read(m)
	}
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: wire.ControlService, HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Shutdown", Handler: shutdown}},
	}, nil)
}
