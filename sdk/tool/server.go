package tool

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/internal/wire"
)

// Register serves impl on s.
func Register(s grpc.ServiceRegistrar, impl Tool) {
	pb.RegisterToolServer(s, &server{impl: impl, running: map[string]context.CancelFunc{}})
}

type server struct {
	pb.UnimplementedToolServer
	impl Tool

	mu      sync.Mutex
	running map[string]context.CancelFunc // by call id; a call without one cannot be cancelled alone
}

// Invoke runs the call with a context of its own, so that Cancel and the
// deadline stop the work while the stream stays open for its result.
func (s *server) Invoke(req *pb.InvokeRequest, stream grpc.ServerStreamingServer[pb.InvokeResponse]) error {
	call := invocation(req)
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	if !call.Deadline.IsZero() {
		var stop context.CancelFunc
		ctx, stop = context.WithDeadline(ctx, call.Deadline)
		defer stop()
	}
	defer s.track(call.CallID, cancel)()

	out := &serverStream{ctx: stream.Context(), send: stream.Send}
	result, err := invoke(ctx, s.impl, call, out)
	if err == nil {
		var r *pb.ToolResult
		if r, err = wire.Result(result); err == nil {
			return out.end(&pb.InvokeResponse{Piece: &pb.InvokeResponse_Result{Result: r}})
		}
	}
	return out.end(&pb.InvokeResponse{Piece: &pb.InvokeResponse_Failure{Failure: wire.Failure(err)}})
}

// invocation reads a call.
func invocation(req *pb.InvokeRequest) sdk.Invocation {
	call := sdk.Invocation{
		Tool: req.GetTool(), Arguments: req.GetArgumentsJson(), CallID: req.GetCallId(),
		Run: req.GetRun(), Project: req.GetProject(), RunDir: req.GetRunDir(),
	}
	if ms := req.GetDeadlineUnixMs(); ms != 0 {
		call.Deadline = time.UnixMilli(ms)
	}
	return call
}

// invoke keeps a panicking tool from taking the plugin and its neighbours down.
func invoke(ctx context.Context, impl Tool, call sdk.Invocation, out Stream) (r sdk.ToolResult, err error) {
	defer rescue(call.Tool, &err)
	return impl.Invoke(ctx, call, out)
}

// rescue turns a panic into the error of the call.
func rescue(name string, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("tool %s panicked: %v\n%s", name, p, debug.Stack())
	}
}

// Settle answers for an implementation that keeps nothing as well, so that the
// host need not tell one from a plugin that is older than this call.
func (s *server) Settle(ctx context.Context, req *pb.InvokeRequest) (*pb.SettleResponse, error) {
	call := invocation(req)
	result, err := settle(ctx, s.impl, call)
	if err == nil {
		var r *pb.ToolResult
		if r, err = wire.Result(result); err == nil {
			return &pb.SettleResponse{Result: r}, nil
		}
	}
	return &pb.SettleResponse{Failure: wire.Failure(err)}, nil
}

func settle(ctx context.Context, impl Tool, call sdk.Invocation) (r sdk.ToolResult, err error) {
	defer rescue(call.Tool, &err)
	settler, ok := impl.(Settler)
	if !ok {
		return sdk.ToolResult{}, unsettled(call.Tool)
	}
	return settler.Settle(ctx, call)
}

func (s *server) track(id string, cancel context.CancelFunc) (forget func()) {
	if id == "" {
		return func() {}
	}
	s.mu.Lock()
	s.running[id] = cancel
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		delete(s.running, id)
		s.mu.Unlock()
	}
}

// Cancel ends the call's context. A call that is over already is no error.
func (s *server) Cancel(_ context.Context, req *pb.CancelRequest) (*pb.CancelResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel, ok := s.running[req.GetCallId()]; ok {
		cancel()
	}
	return &pb.CancelResponse{}, nil
}

// serverStream serialises the senders of one call and refuses those that come
// after its end.
type serverStream struct {
	ctx   context.Context
	mu    sync.Mutex
	send  func(*pb.InvokeResponse) error
	ended bool
}

// largestChunk keeps a chunk well below the cap of a message.
const largestChunk = 1 << 20

// Chunk implements Stream; a large one is sent in pieces.
func (s *serverStream) Chunk(channel int, p []byte) error {
	for len(p) > 0 {
		n := min(len(p), largestChunk)
		err := s.write(&pb.InvokeResponse{Piece: &pb.InvokeResponse_Chunk{Chunk: &pb.Chunk{Channel: int32(channel), Data: p[:n]}}}, false)
		if err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// Progress implements Stream.
func (s *serverStream) Progress(message string, fraction float64) error {
	return s.write(&pb.InvokeResponse{Piece: &pb.InvokeResponse_Progress{
		Progress: &pb.Progress{Message: wire.Text(message), Fraction: fraction},
	}}, false)
}

func (s *serverStream) end(m *pb.InvokeResponse) error { return s.write(m, true) }

func (s *serverStream) write(m *pb.InvokeResponse, last bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return sdk.Errorf(sdk.Aborted, "the call has ended: nothing can be sent any more")
	}
	s.ended = last
	return s.send(m)
}

var _ Stream = (*serverStream)(nil)
