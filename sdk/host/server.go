package host

import (
	"context"
	"encoding/json"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/internal/wire"
)

// Register serves impl on s. The context of each method carries the call that
// the request names (Call); whether that call exists is for impl to check.
func Register(s grpc.ServiceRegistrar, impl Host) {
	pb.RegisterHostServer(s, &server{impl: impl})
}

type server struct {
	pb.UnimplementedHostServer
	impl Host
}

func (s *server) Entries(ctx context.Context, req *pb.EntriesRequest) (*pb.EntriesResponse, error) {
	ctx = Incoming(ctx)
	if path := req.GetPath(); path != "" {
		e, err := s.impl.Entry(ctx, path)
		return writeEntries([]sdk.Entry{e}, err), nil
	}
	entries, err := s.impl.Entries(ctx, req.GetGlob())
	return writeEntries(entries, err), nil
}

func (s *server) Write(ctx context.Context, req *pb.WriteRequest) (*pb.EntriesResponse, error) {
	var writes []sdk.Write
	if err := json.Unmarshal(req.GetWritesJson(), &writes); err != nil {
		return writeEntries(nil, sdk.Errorf(sdk.Validation, "the writes cannot be read: %w", err)), nil
	}
	entries, err := s.impl.Write(Incoming(ctx), writes...)
	return writeEntries(entries, err), nil
}

func (s *server) Do(ctx context.Context, req *pb.DoRequest) (*pb.DoResponse, error) {
	var calls []sdk.EntryCall
	if err := sdk.ReadJSON(req.GetCallsJson(), &calls); err != nil {
		return &pb.DoResponse{Failure: wire.Failure(sdk.Errorf(sdk.Validation, "the calls cannot be read: %w", err))}, nil
	}
	done, err := s.impl.Do(Incoming(ctx), calls...)
	if err != nil {
		return &pb.DoResponse{Failure: wire.Failure(err)}, nil
	}
	return &pb.DoResponse{Done: wire.Done(done)}, nil
}

func writeEntries(entries []sdk.Entry, err error) *pb.EntriesResponse {
	if err != nil {
		return &pb.EntriesResponse{Failure: wire.Failure(err)}
	}
	return &pb.EntriesResponse{Entries: wire.Entries(entries)}
}

func (s *server) InvokeTool(ctx context.Context, req *pb.InvokeToolRequest) (*pb.InvokeToolResponse, error) {
	r, failure := wire.Ended(s.impl.Invoke(Incoming(ctx), req.GetTool(), req.GetArgumentsJson()))
	return &pb.InvokeToolResponse{Result: r, Failure: failure}, nil
}

func (s *server) Complete(req *pb.CompleteRequest, stream grpc.ServerStreamingServer[pb.CompleteResponse]) error {
	var r sdk.Request
	if err := json.Unmarshal(req.GetRequestJson(), &r); err != nil {
		return stream.Send(wire.ProviderFailure(sdk.Errorf(sdk.Validation, "the request cannot be read: %w", err), false))
	}
	streamed := false
	err := s.impl.Complete(Incoming(stream.Context()), r, func(d sdk.Delta) error {
		m, err := wire.Delta(d)
		if err != nil {
			return err
		}
		streamed = true
		return stream.Send(m)
	})
	if err != nil {
		return stream.Send(wire.ProviderFailure(err, streamed))
	}
	return nil
}

func (s *server) Secret(ctx context.Context, req *pb.SecretRequest) (*pb.SecretResponse, error) {
	v, err := s.impl.Secret(Incoming(ctx), req.GetName())
	if err != nil {
		return &pb.SecretResponse{Failure: wire.Failure(err)}, nil
	}
	return &pb.SecretResponse{Value: wire.Text(v)}, nil
}

func (s *server) Login(ctx context.Context, _ *pb.LoginRequest) (*pb.LoginResponse, error) {
	v, err := s.impl.Login(Incoming(ctx))
	if err != nil {
		return &pb.LoginResponse{Failure: wire.Failure(err)}, nil
	}
	return &pb.LoginResponse{Login: wire.Text(v)}, nil
}

func (s *server) KeepLogin(ctx context.Context, req *pb.KeepLoginRequest) (*pb.KeepLoginResponse, error) {
	if err := s.impl.KeepLogin(Incoming(ctx), req.GetWas(), req.GetNow()); err != nil {
		return &pb.KeepLoginResponse{Failure: wire.Failure(err)}, nil
	}
	return &pb.KeepLoginResponse{}, nil
}

func (s *server) Log(ctx context.Context, req *pb.LogRequest) (*pb.LogResponse, error) {
	return &pb.LogResponse{}, s.impl.Log(Incoming(ctx), req.GetLevel(), req.GetMessage(), req.GetFields())
}
