package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/internal/wire"
)

// Register serves impl on s.
func Register(s grpc.ServiceRegistrar, impl Provider) {
	pb.RegisterProviderServer(s, &server{impl: impl})
}

type server struct {
	pb.UnimplementedProviderServer
	impl Provider
}

func (s *server) Models(ctx context.Context, _ *pb.ModelsRequest) (*pb.ModelsResponse, error) {
	models, err := s.models(ctx)
	if err != nil {
		return &pb.ModelsResponse{Failure: wire.Failure(err)}, nil
	}
	b, err := json.Marshal(models)
	if err != nil {
		return nil, fmt.Errorf("encode the models: %w", err)
	}
	return &pb.ModelsResponse{ModelsJson: b}, nil
}

func (s *server) models(ctx context.Context) (models []sdk.Model, err error) {
	defer wire.Rescue("the provider's Models", &err)
	return s.impl.Models(ctx)
}

func (s *server) Complete(req *pb.CompleteRequest, stream grpc.ServerStreamingServer[pb.CompleteResponse]) error {
	var r sdk.Request
	if err := json.Unmarshal(req.GetRequestJson(), &r); err != nil {
		return fmt.Errorf("decode the request: %w", err)
	}
	streamed := false
	send := func(d sdk.Delta) error {
		m, err := wire.Delta(d)
		if err != nil {
			return err
		}
		streamed = true
		return stream.Send(m)
	}
	err := s.complete(stream.Context(), r, send)
	if err == nil {
		return nil
	}
	if ended := stream.Context().Err(); ended != nil && errors.Is(err, ended) {
		return err
	}
	return stream.Send(wire.ProviderFailure(err, streamed))
}

func (s *server) complete(ctx context.Context, r sdk.Request, send func(sdk.Delta) error) (err error) {
	defer wire.Rescue("the provider's Complete", &err)
	return s.impl.Complete(ctx, r, send)
}

func (s *server) Pull(req *pb.PullRequest, stream grpc.ServerStreamingServer[pb.PullResponse]) error {
	err := s.pull(stream.Context(), req.GetModel(), func(p sdk.PullProgress) error {
		m := &pb.PullProgress{Status: strings.ToValidUTF8(p.Status, "\uFFFD"), Done: p.Done, Total: p.Total}
		return stream.Send(&pb.PullResponse{Piece: &pb.PullResponse_Progress{Progress: m}})
	})
	if err == nil {
		return nil
	}
	if ended := stream.Context().Err(); ended != nil && errors.Is(err, ended) {
		return err
	}
	return stream.Send(&pb.PullResponse{Piece: &pb.PullResponse_Failure{Failure: wire.Failure(err)}})
}

func (s *server) pull(ctx context.Context, model string, progress func(sdk.PullProgress) error) (err error) {
	puller, can := s.impl.(Puller)
	if !can {
		return ErrCannotPull
	}
	defer wire.Rescue("the provider's Pull", &err)
	return puller.Pull(ctx, model, progress)
}

// Authenticate answers for an implementation to which nobody can sign in as well.
func (s *server) Authenticate(_ *pb.AuthenticateRequest, stream grpc.ServerStreamingServer[pb.AuthenticateResponse]) error {
	err := s.authenticate(stream.Context(), func(step sdk.AuthStep) error {
		m, err := wire.AuthStep(step)
		if err != nil {
			return err
		}
		return stream.Send(m)
	})
	if err == nil {
		return nil
	}
	if ended := stream.Context().Err(); ended != nil && errors.Is(err, ended) {
		return err
	}
	return stream.Send(wire.AuthFailure(err))
}

func (s *server) authenticate(ctx context.Context, show func(sdk.AuthStep) error) (err error) {
	defer wire.Rescue("the provider's Authenticate", &err)
	return Authenticate(ctx, s.impl, show)
}
