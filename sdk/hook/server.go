package hook

import (
	"context"
	"encoding/json"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/internal/wire"
)

// Register serves impl on s.
func Register(s grpc.ServiceRegistrar, impl sdk.Hook) {
	pb.RegisterHookServer(s, &server{impl: impl})
}

type server struct {
	pb.UnimplementedHookServer
	impl sdk.Hook
}

func (s *server) Event(ctx context.Context, req *pb.EventRequest) (*pb.EventResponse, error) {
	return &pb.EventResponse{Failure: wire.Failure(s.event(ctx, req.GetName(), req.GetPayloadJson()))}, nil
}

func (s *server) event(ctx context.Context, name string, payload json.RawMessage) (err error) {
	defer wire.Rescue("the subscriber of "+name, &err)
	ctx, done := bounded(ctx, name)
	defer done()
	return s.impl.Event(ctx, name, payload)
}

func (s *server) Filter(ctx context.Context, req *pb.FilterRequest) (*pb.FilterResponse, error) {
	value, err := s.filter(ctx, req.GetName(), req.GetValueJson())
	if err != nil {
		return &pb.FilterResponse{Failure: wire.Failure(err)}, nil
	}
	return &pb.FilterResponse{ValueJson: value}, nil
}

func (s *server) filter(ctx context.Context, name string, value json.RawMessage) (out json.RawMessage, err error) {
	defer wire.Rescue("the subscriber of "+name, &err)
	ctx, done := bounded(ctx, name)
	defer done()
	return s.impl.Filter(ctx, name, value)
}

// bounded ends with the limit of a hook: the daemon waits for no longer, and ends a
// plugin that works on for some time after it.
func bounded(ctx context.Context, name string) (context.Context, context.CancelFunc) {
	if point, known := sdk.FindHook(name); known {
		return context.WithTimeout(ctx, point.Limit)
	}
	return context.WithCancel(ctx)
}
