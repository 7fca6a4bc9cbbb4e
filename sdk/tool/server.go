package tool

import (
	"context"

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
	ctx, done := s.running.Begin(stream.Context(), call.CallID, call.Deadline)
	defer done()
	out := wire.NewPieces(stream.Send)
	return out.End(invoke(ctx, s.impl, call, out))
}

// Call is Invoke without a stream.
func (s *server) Call(ctx context.Context, req *pb.InvokeRequest) (*pb.CallResponse, error) {
	call := invocation(req)
	ctx, done := s.running.Begin(ctx, call.CallID, call.Deadline)
	defer done()
	r, failure := wire.Ended(invoke(ctx, s.impl, call, whole{}))
	return &pb.CallResponse{Result: r, Failure: failure}, nil
}

// whole is the stream of a tool that declares that it uses none.
type whole struct{}

var errWhole = sdk.Errorf(sdk.Internal, "the tool declares that it sends nothing before its result: take Whole from it")

func (whole) Chunk(int, []byte) error        { return errWhole }
func (whole) Progress(string, float64) error { return errWhole }

// invocation reads a call.
func invocation(req *pb.InvokeRequest) sdk.Invocation {
	p := req.GetProtection()
	return sdk.Invocation{
		Tool: req.GetTool(), Arguments: req.GetArgumentsJson(), CallID: req.GetCallId(),
		Run: req.GetRun(), Project: req.GetProject(), RunDir: req.GetRunDir(),
		Argv: req.GetArgv(), Base: req.GetBase(), Network: req.GetNetwork(),
		View: req.GetView(), Unsaved: req.GetUnsaved(), Unsure: req.GetUnsure(), Writes: req.GetWrites(), SameHost: req.GetSameHost(), NotHosts: req.GetNotHosts(),
		Protection: sdk.Protection{Refuse: p.GetRefuse(), Ask: p.GetAsk(), Free: p.GetFree()},
		Deadline:   wire.ReadDeadline(req.GetDeadlineUnixMs()),
	}
}

func invoke(ctx context.Context, impl Tool, call sdk.Invocation, out Stream) (r sdk.ToolResult, err error) {
	defer wire.Rescue("tool "+call.Tool, &err)
	return impl.Invoke(ctx, call, out)
}

// Settle answers for an implementation that keeps nothing as well, so that the
// host need not tell one from a plugin that is older than this call.
func (s *server) Settle(ctx context.Context, req *pb.InvokeRequest) (*pb.SettleResponse, error) {
	r, failure := wire.Ended(settle(ctx, s.impl, invocation(req)))
	return &pb.SettleResponse{Result: r, Failure: failure}, nil
}

func settle(ctx context.Context, impl Tool, call sdk.Invocation) (r sdk.ToolResult, err error) {
	defer wire.Rescue("tool "+call.Tool, &err)
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
	return &pb.StageResponse{Diff: staged.Diff, Base: staged.Base, Command: staged.Command}, nil
}

func stage(ctx context.Context, impl Tool, call sdk.Invocation) (staged sdk.Staged, err error) {
	defer wire.Rescue("tool "+call.Tool, &err)
	stager, ok := impl.(Stager)
	if !ok {
		return sdk.Staged{}, unstaged(call.Tool)
	}
	return stager.Stage(ctx, call)
}

// Prepare answers for an implementation that prepares nothing as well.
func (s *server) Prepare(ctx context.Context, req *pb.PrepareRequest) (*pb.PrepareResponse, error) {
	prepared, err := prepare(ctx, s.impl, sdk.Place{
		Tool: req.GetTool(), Run: req.GetRun(), Project: req.GetProject(), RunDir: req.GetRunDir(), Network: req.GetNetwork(),
	})
	if err != nil {
		return &pb.PrepareResponse{Failure: wire.Failure(err)}, nil
	}
	return &pb.PrepareResponse{View: prepared.View, Reason: prepared.Reason}, nil
}

func prepare(ctx context.Context, impl Tool, at sdk.Place) (prepared sdk.Prepared, err error) {
	defer wire.Rescue("tool "+at.Tool, &err)
	preparer, ok := impl.(Preparer)
	if !ok {
		return sdk.Prepared{}, unprepared(at.Tool)
	}
	return preparer.Prepare(ctx, at)
}

// Cancel ends the call's context. A call that is over already is no error.
func (s *server) Cancel(_ context.Context, req *pb.CancelRequest) (*pb.CancelResponse, error) {
	s.running.Cancel(req.GetCallId())
	return &pb.CancelResponse{}, nil
}

var _ Stream = (*wire.Pieces)(nil)
