// Package sdktest holds the contract of each plugin kind as a suite of tests.
// A plugin's own tests run it against their implementation, behind the same
// gRPC that the daemon uses; the daemon needs nothing that is not in here.
//
//	func TestContract(t *testing.T) {
//		sdktest.Tool(t, myTools, sdktest.Call{Invocation: sdk.Invocation{
//			Tool: "greet", Arguments: json.RawMessage(`{"name":"Ada"}`),
//		}})
//	}
//
// Now and then a request looks as if a later daemon had sent it. A test logs the
// seed that decides which; in the environment, BOTHY_TEST_SEED repeats it.
package sdktest

import (
	"context"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/conformance"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/plugin"
)

// patience is how long a step of a suite may take before it has failed.
const patience = 30 * time.Second

// Pair serves what register registers on one end of a connection in memory and
// returns the other end. Both end with the test.
func Pair(t testing.TB, register func(grpc.ServiceRegistrar), opts ...grpc.ServerOption) *grpc.ClientConn {
	t.Helper()
	listener := bufconn.Listen(1 << 20)
	opts = append(opts, grpc.MaxRecvMsgSize(plugin.MaxMessage), grpc.MaxSendMsgSize(plugin.MaxMessage))
	server := grpc.NewServer(opts...)
	register(server)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	conn, err := grpc.NewClient("passthrough:///plugin",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(plugin.MaxMessage), grpc.MaxCallSendMsgSize(plugin.MaxMessage)),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Errorf("close the connection: %v", err)
		}
		server.Stop()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return conn
}

// envSeed repeats the requests that a test logged the seed of.
const envSeed = "BOTHY_TEST_SEED"

// withGrease makes some requests look as if a later daemon had sent them; what it
// logs repeats a failure.
func withGrease(t testing.TB, conn grpc.ClientConnInterface) grpc.ClientConnInterface {
	t.Helper()
	seed := rand.Uint64N(1 << 32)
	if given, ok := os.LookupEnv(envSeed); ok {
		var err error
		if seed, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatalf("%s is no number: %v", envSeed, err)
		}
	}
	t.Logf("requests are greased with the seed %d: %s=%d repeats them", seed, envSeed, seed)
	return conformance.NewGrease(conn, seed)
}

// keeps tries checks of package conformance on a kind that is served alone, by a
// plugin with this manifest.
func keeps(t *testing.T, conn grpc.ClientConnInterface, m sdk.Manifest, checks []conformance.Check) {
	t.Helper()
	s := conformance.Subject{Conn: withGrease(t, conn), Manifest: m, Call: true, Project: t.TempDir(), RunDir: t.TempDir()}
	conformance.Run(soon(t), s, checks, func(f conformance.Finding) {
		if f.Severity == conformance.Failed || f.Severity == conformance.Warned {
			t.Errorf("%s: %s", f.Name, f.Text)
		}
	})
}

// WithHost serves calls as a daemon's plugin does, with h as the daemon's
// services: host.From finds it in the context of each call.
func WithHost(h host.Host) grpc.ServerOption {
	return grpc.ChainStreamInterceptor(func(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		return next(srv, &hosted{ServerStream: ss, ctx: host.With(host.Incoming(ss.Context()), h)})
	})
}

type hosted struct {
	grpc.ServerStream
	ctx context.Context
}

// Context carries the daemon's services.
func (h *hosted) Context() context.Context { return h.ctx }

// Recorder is a tool.Stream that keeps what it is sent. Its zero value is ready.
type Recorder struct {
	mu       sync.Mutex
	out, err []byte
	progress []string
}

// Chunk implements tool.Stream.
func (r *Recorder) Chunk(channel int, p []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if channel == 2 {
		r.err = append(r.err, p...)
	} else {
		r.out = append(r.out, p...)
	}
	return nil
}

// Progress implements tool.Stream.
func (r *Recorder) Progress(message string, _ float64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress = append(r.progress, message)
	return nil
}

// Output returns what came on standard output and on standard error.
func (r *Recorder) Output() (stdout, stderr string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.out), string(r.err)
}

// Messages returns the progress messages so far.
func (r *Recorder) Messages() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.progress...)
}

// soon is a context that ends when something hangs.
func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// within fails the test when do does not return in time.
func within(t testing.TB, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%s did not return within %v", what, patience)
	}
}

// outcome is the outcome of an error, empty for none.
func outcome(err error) sdk.Outcome {
	if err == nil {
		return ""
	}
	return sdk.OutcomeOf(err)
}
