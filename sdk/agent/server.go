package agent

import (
	"context"
	"encoding/json"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/internal/wire"
)

// Register serves impl on s.
func Register(s grpc.ServiceRegistrar, impl Agent) {
	pb.RegisterAgentServer(s, &server{impl: impl})
}

type server struct {
	pb.UnimplementedAgentServer
	impl    Agent
	running wire.Running
}

// Validate judges with a context of its own, which Cancel and the deadline end.
func (s *server) Validate(ctx context.Context, req *pb.ValidateRequest) (*pb.ValidateResponse, error) {
	work, err := readWork(req)
	if err != nil {
		return &pb.ValidateResponse{Failure: wire.Failure(err)}, nil
	}
	ctx, done := s.running.Begin(ctx, work.CallID, work.Deadline)
	defer done()
	judged, err := validate(ctx, s.impl, work)
	if err != nil {
		return &pb.ValidateResponse{Failure: wire.Failure(err)}, nil
	}
	resp := &pb.ValidateResponse{Accepted: judged.Accepted}
	for _, m := range judged.Missing {
		resp.Missing = append(resp.Missing, wire.Text(m))
	}
	return resp, nil
}

func readWork(req *pb.ValidateRequest) (sdk.Work, error) {
	var work sdk.Work
	if err := json.Unmarshal(req.GetWorkJson(), &work); err != nil {
		return work, sdk.Errorf(sdk.Validation, "the work cannot be read: %w", err)
	}
	work.CallID, work.Key, work.Project, work.RunDir = req.GetCallId(), req.GetRun(), req.GetProject(), req.GetRunDir()
	work.Deadline = wire.ReadDeadline(req.GetDeadlineUnixMs())
	return work, nil
}

func validate(ctx context.Context, impl Agent, work sdk.Work) (judged sdk.Judgement, err error) {
	defer wire.Rescue("the judgement of what "+work.Agent+" handed back", &err)
	return impl.Validate(ctx, work)
}

// Cancel ends a judgement's context. One that is over already is no error.
func (s *server) Cancel(_ context.Context, req *pb.CancelRequest) (*pb.CancelResponse, error) {
	s.running.Cancel(req.GetCallId())
	return &pb.CancelResponse{}, nil
}
