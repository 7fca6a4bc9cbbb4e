package skill

import (
	"context"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/internal/wire"
)

// Register serves impl on s.
func Register(s grpc.ServiceRegistrar, impl Skill) {
	pb.RegisterSkillServer(s, &server{impl: impl})
}

type server struct {
	pb.UnimplementedSkillServer
	impl    Skill
	running wire.Running
}

// Execute runs the skill with a context of its own, so that Cancel and the
// deadline stop the work while the stream stays open for its result.
func (s *server) Execute(req *pb.ExecuteRequest, stream grpc.ServerStreamingServer[pb.InvokeResponse]) error {
	call := skillCall(req)
	ctx, done := s.running.Begin(stream.Context(), call.CallID, call.Deadline)
	defer done()
	out := wire.NewPieces(stream.Send)
	return out.End(execute(ctx, s.impl, call, out))
}

// skillCall reads a call.
func skillCall(req *pb.ExecuteRequest) sdk.SkillCall {
	return sdk.SkillCall{
		Skill: req.GetSkill(), Input: req.GetInput(), Body: req.GetBody(), Folder: req.GetFolder(), Model: req.GetModel(),
		CallID: req.GetCallId(), Run: req.GetRun(), Project: req.GetProject(), RunDir: req.GetRunDir(),
		Deadline: wire.ReadDeadline(req.GetDeadlineUnixMs()),
	}
}

func execute(ctx context.Context, impl Skill, call sdk.SkillCall, out Stream) (r sdk.ToolResult, err error) {
	defer wire.Rescue("skill "+call.Skill, &err)
	return impl.Execute(ctx, call, out)
}

// Cancel ends the execution's context. One that is over already is no error.
func (s *server) Cancel(_ context.Context, req *pb.CancelRequest) (*pb.CancelResponse, error) {
	s.running.Cancel(req.GetCallId())
	return &pb.CancelResponse{}, nil
}

var _ Stream = (*wire.Pieces)(nil)
