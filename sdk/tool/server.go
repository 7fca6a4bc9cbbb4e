package tool

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/internal/wire"
)

// Register serves impl on s.
func Register(s grpc.ServiceRegistrar, impl Tool) {
	pb.RegisterToolServer(s, &server{impl: impl})
}

type server struct {
	pb.UnimplementedToolServer
	impl    Tool
	running wire.Running
}

// Invoke runs the call with a context of its own, so that Cancel and the
// deadline stop the work while the stream stays open for its result.
func (s *server) Invoke(req *pb.InvokeRequest, stream grpc.ServerStreamingServer[pb.InvokeResponse]) error {
	call := invocation(req)
	ctx, done := s.begin(stream.Context(), call)
	defer done()
	out := wire.NewPieces(stream.Send)
	return out.End(invoke(ctx, s.impl, call, out))
}

// Call is Invoke without a stream.
func (s *server) Call(ctx context.Context, req *pb.InvokeRequest) (*pb.CallResponse, error) {
	call := invocation(req)
	ctx, done := s.begin(ctx, call)
	defer done()
	result, err := invoke(ctx, s.impl, call, whole{})
	if err == nil {
		var r *pb.ToolResult
		if r, err = wire.Result(result); err == nil {
			return &pb.CallResponse{Result: r}, nil
		}
	}
	return &pb.CallResponse{Failure: wire.Failure(err)}, nil
}

// begin makes the context of a call, which ends with its deadline or by Cancel.
func (s *server) begin(ctx context.Context, call sdk.Invocation) (context.Context, context.CancelFunc) {
	var cancel context.CancelFunc
	if call.Deadline.IsZero() {
		ctx, cancel = context.WithCancel(ctx)
	} else {
		ctx, cancel = context.WithDeadline(ctx, call.Deadline)
	}
	if call.CallID != "" {
		ctx = wire.WithCall(ctx, call.CallID) // which the metadata need not repeat
	}
	forget := s.running.Track(call.CallID, cancel)
	return ctx, func() { forget(); cancel() }
}

// whole is the stream of a tool that declares that it uses none.
type whole struct{}

var errWhole = sdk.Errorf(sdk.Internal, "the tool declares that it sends nothing before its result: take Whole from it")

func (whole) Chunk(int, []byte) error        { return errWhole }
func (whole) Progress(string, float64) error { return errWhole }

// invocation reads a call.
func invocation(req *pb.InvokeRequest) sdk.Invocation {
	call := sdk.Invocation{
		Tool: req.GetTool(), Arguments: req.GetArgumentsJson(), CallID: req.GetCallId(),
		Run: req.GetRun(), Project: req.GetProject(), RunDir: req.GetRunDir(),
		Argv: req.GetArgv(), Base: req.GetBase(), Network: req.GetNetwork(),
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

// Stage answers for an implementation that cannot say as well.
func (s *server) Stage(ctx context.Context, req *pb.InvokeRequest) (*pb.StageResponse, error) {
	staged, err := stage(ctx, s.impl, invocation(req))
	if err != nil {
		return &pb.StageResponse{Failure: wire.Failure(err)}, nil
	}
	return &pb.StageResponse{Diff: staged.Diff, Base: staged.Base}, nil
}

func stage(ctx context.Context, impl Tool, call sdk.Invocation) (staged sdk.Staged, err error) {
	defer rescue(call.Tool, &err)
	stager, ok := impl.(Stager)
	if !ok {
		return sdk.Staged{}, unstaged(call.Tool)
	}
	return stager.Stage(ctx, call)
}

// Cancel ends the call's context. A call that is over already is no error.
func (s *server) Cancel(_ context.Context, req *pb.CancelRequest) (*pb.CancelResponse, error) {
	s.running.Cancel(req.GetCallId())
	return &pb.CancelResponse{}, nil
}

var _ Stream = (*wire.Pieces)(nil)
