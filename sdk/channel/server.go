package channel

import (
	"context"
	"errors"
	"sync"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/internal/wire"
)

// Register serves impl on s.
func Register(s grpc.ServiceRegistrar, impl Channel) {
	pb.RegisterChannelServer(s, &server{impl: impl})
}

type server struct {
	pb.UnimplementedChannelServer
	impl Channel

	mu  sync.Mutex
	end context.CancelFunc // of the Serve at work; nil when there is none
}

// Serve runs the channel with a context of its own, so that Cancel ends the
// work while the stream stays open for its last piece.
func (s *server) Serve(req *pb.ServeRequest, stream grpc.ServerStreamingServer[pb.ServeResponse]) error {
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	if !s.begin(cancel) {
		return stream.Send(failure(sdk.Errorf(sdk.Conflict, "the channel is served already: end that stream first")))
	}
	defer s.ended()

	out := &voice{stream: stream}
	access := Access{Socket: req.GetSocket(), Token: req.GetToken(), Projects: req.GetProjects()}
	err := serve(ctx, s.impl, access, out.say)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = nil // it ended because it was asked to
	}
	return out.last(err)
}

func (s *server) begin(end context.CancelFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != nil {
		return false
	}
	s.end = end
	return true
}

func (s *server) ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end = nil
}

// Cancel ends the context of the Serve at work.
func (s *server) Cancel(context.Context, *pb.CancelRequest) (*pb.CancelResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != nil {
		s.end()
	}
	return &pb.CancelResponse{}, nil
}

// serve keeps a panicking channel from taking the plugin and its neighbours down.
func serve(ctx context.Context, impl Channel, access Access, say func(string)) (err error) {
	defer wire.Rescue("the channel", &err)
	return impl.Serve(ctx, access, say)
}

// voice is the plugin's end of the stream.
type voice struct {
	mu     sync.Mutex
	stream grpc.ServerStreamingServer[pb.ServeResponse]
	silent bool
}

func (v *voice) say(status string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.silent {
		_ = v.stream.Send(&pb.ServeResponse{Piece: &pb.ServeResponse_Status{Status: wire.Text(status)}}) // fails when the stream is cut, which ends the context
	}
}

func (v *voice) last(err error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.silent = true
	if err == nil {
		return nil
	}
	return v.stream.Send(failure(err))
}

func failure(err error) *pb.ServeResponse {
	return &pb.ServeResponse{Piece: &pb.ServeResponse_Failure{Failure: wire.Failure(err)}}
}
