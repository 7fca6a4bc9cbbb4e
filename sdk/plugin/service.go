package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/agent"
	"github.com/bothyd/bothy/sdk/channel"
	"github.com/bothyd/bothy/sdk/hook"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/internal/wire"
	"github.com/bothyd/bothy/sdk/provider"
	"github.com/bothyd/bothy/sdk/skill"
	"github.com/bothyd/bothy/sdk/tool"
)

// service serves the Plugin service of one binary and watches over its calls.
type service struct {
	pb.UnimplementedPluginServer
	o    Options
	done chan struct{} // closed when the plugin ends

	configuring sync.Mutex // one configuration at a time
	config      *blank     // what Options.Config was before any

	host atomic.Pointer[host.Host]

	mu       sync.Mutex
	at       Services     // where the host's services are
	hangUp   func() error // closes the connection to them
	running  int
	draining bool
	idle     chan struct{} // closed when draining and nothing runs
}

func newService(o Options) *service {
	return &service{o: o, done: make(chan struct{}), idle: make(chan struct{}), config: newBlank(o.Config)}
}

// register serves all kinds that the binary has.
func (s *service) register(r grpc.ServiceRegistrar) {
	pb.RegisterPluginServer(r, s)
	if s.o.Tool != nil {
		tool.Register(r, s.o.Tool)
	}
	if s.o.Provider != nil {
		provider.Register(r, s.o.Provider)
	}
	if s.o.Skill != nil {
		skill.Register(r, s.o.Skill)
	}
	if s.o.Hook != nil {
		hook.Register(r, s.o.Hook)
	}
	if s.o.Channel != nil {
		channel.Register(r, s.o.Channel)
	}
	if s.o.Agent != nil {
		agent.Register(r, s.o.Agent)
	}
}

func (s *service) manifest() sdk.Manifest {
	m := sdk.Manifest{Name: s.o.Name, Version: s.o.Version, Protocol: Protocol, Schemes: s.o.Schemes, Projections: s.o.projections(), Grants: s.o.grants(), Calls: s.o.Calls, Needs: s.o.Needs, Requires: s.o.Requires}
	if s.o.Tool != nil {
		m.Kinds = append(m.Kinds, KindTool)
		m.Tools = s.o.Tool.Tools()
	}
	if s.o.Provider != nil {
		m.Kinds = append(m.Kinds, KindProvider)
	}
	if s.o.Skill != nil {
		m.Kinds = append(m.Kinds, KindSkill)
		m.Skills = s.o.Skill.Skills()
	}
	if s.o.Hook != nil {
		m.Kinds = append(m.Kinds, KindHook)
		m.Subscriptions = s.o.Hook.Subscriptions()
	}
	if s.o.Channel != nil {
		m.Kinds = append(m.Kinds, KindChannel)
		if !slices.Contains(m.Grants, sdk.GrantChannel) {
			m.Grants = append(slices.Clone(m.Grants), sdk.GrantChannel)
		}
	}
	if s.o.Agent != nil {
		m.Kinds = append(m.Kinds, KindAgent)
		m.Agents = s.o.Agent.Agents()
	}
	if s.o.Config != nil {
		m.Config, _ = Schema(s.o.Config) // checked before serving
	}
	m.Features = s.features()
	return m
}

func (s *service) manifestJSON() ([]byte, error) {
	b, err := json.Marshal(s.manifest())
	if err != nil {
		return nil, fmt.Errorf("encode the manifest: %w", err)
	}
	return b, nil
}

// Describe answers with the manifest of this moment.
func (s *service) Describe(context.Context, *pb.DescribeRequest) (*pb.DescribeResponse, error) {
	b, err := s.manifestJSON()
	return &pb.DescribeResponse{ManifestJson: b}, err
}

// Configure learns where the host's services are, then hands the settings over.
func (s *service) Configure(ctx context.Context, req *pb.ConfigureRequest) (*pb.ConfigureResponse, error) {
	if err := s.configure(ctx, req); err != nil {
		return &pb.ConfigureResponse{Failure: wire.Failure(err)}, nil
	}
	b, err := s.manifestJSON()
	return &pb.ConfigureResponse{ManifestJson: b}, err
}

func (s *service) configure(ctx context.Context, req *pb.ConfigureRequest) (err error) {
	defer wire.Rescue("the plugin's Configure", &err)
	var settings sdk.Settings
	if err := json.Unmarshal(req.GetSettingsJson(), &settings); err != nil {
		return sdk.Errorf(sdk.Validation, "the settings cannot be read: %w", err)
	}
	settings.Features = req.GetFeatures()
	if err := s.reach(Services{Address: req.GetHostAddress(), Token: req.GetHostToken()}); err != nil {
		return fmt.Errorf("reach the daemon's services: %w", err)
	}
	s.configuring.Lock()
	defer s.configuring.Unlock()
	undo, err := s.config.fill(settings.Config)
	if err != nil {
		return sdk.Errorf(sdk.Validation, "%w", err)
	}
	if s.o.Configure == nil {
		return nil
	}
	refused := true
	defer func() { // also when it panics
		if refused {
			undo()
		}
	}()
	if err := s.o.Configure(s.serving(ctx), settings); err != nil {
		return err
	}
	refused = false
	return nil
}

// reach prepares the connection to the daemon's services, which the first
// request makes. A later Configure may name another place.
func (s *service) reach(at Services) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at.Address == "" || at == s.at {
		return nil
	}
	client, hangUp, err := host.Dial(at.Address, at.Token, DialOptions(PeerCredentials(onlyDaemon(hostPID()), nil))...)
	if err != nil {
		return err
	}
	if s.hangUp != nil {
		_ = s.hangUp() // nobody is there any more
	}
	var h host.Host = client
	s.host.Store(&h)
	s.at, s.hangUp = at, hangUp
	return nil
}

func (s *service) close() {
	close(s.done)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hangUp != nil {
		_ = s.hangUp() // the process ends with it
	}
}

// Watch sends the manifest each time the plugin says that it changed.
func (s *service) Watch(_ *pb.WatchRequest, stream grpc.ServerStreamingServer[pb.WatchResponse]) error {
	for {
		select {
		case <-stream.Context().Done():
			return nil
		case <-s.done:
			return nil
		case _, open := <-s.o.Changed:
			if !open {
				<-stream.Context().Done()
				return nil
			}
			b, err := s.manifestJSON()
			if err != nil {
				return err
			}
			if err := stream.Send(&pb.WatchResponse{ManifestJson: b}); err != nil {
				return err
			}
		}
	}
}

// Health asks Options.Health.
func (s *service) Health(ctx context.Context, _ *pb.HealthRequest) (*pb.HealthResponse, error) {
	if s.o.Health != nil {
		if err := s.o.Health(ctx); err != nil {
			return &pb.HealthResponse{Message: wire.Text(err.Error())}, nil
		}
	}
	return &pb.HealthResponse{Ready: true}, nil
}

// Drain refuses new calls, waits for those that run and lets the plugin tidy up.
func (s *service) Drain(ctx context.Context, _ *pb.DrainRequest) (*pb.DrainResponse, error) {
	s.mu.Lock()
	if !s.draining {
		s.draining = true
		if s.running == 0 {
			close(s.idle)
		}
	}
	s.mu.Unlock()
	select {
	case <-s.idle:
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	if s.o.Drain != nil {
		if err := s.o.Drain(ctx); err != nil {
			return nil, status.Error(codes.Internal, wire.Text(err.Error()))
		}
	}
	return &pb.DrainResponse{}, nil
}

// begin counts a call of a kind, unless the plugin is draining.
func (s *service) begin(method string) (end func(), err error) {
	if !counted(method) {
		return func() {}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return nil, status.Error(codes.Unavailable, "the plugin is draining and takes no new calls")
	}
	s.running++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running--
		if s.draining && s.running == 0 {
			close(s.idle)
		}
	}, nil
}

func counted(method string) bool {
	return method == pb.Plugin_Project_FullMethodName || strings.HasPrefix(method, "/bothy.v1.") && !strings.HasPrefix(method, "/bothy.v1.Plugin/") && !strings.HasSuffix(method, "/Cancel")
}

// serving gives the context of a call the call's id and the host's services.
func (s *service) serving(ctx context.Context) context.Context {
	ctx = host.Incoming(ctx)
	if h := s.host.Load(); h != nil {
		ctx = host.With(ctx, *h)
	}
	return ctx
}

func (s *service) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	end, err := s.begin(info.FullMethod)
	if err != nil {
		return nil, err
	}
	defer end()
	return next(s.serving(ctx), req)
}

func (s *service) stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	end, err := s.begin(info.FullMethod)
	if err != nil {
		return err
	}
	defer end()
	if !counted(info.FullMethod) {
		return next(srv, ss)
	}
	return next(srv, servingStream{ServerStream: ss, ctx: s.serving(ss.Context())})
}

type servingStream struct {
	grpc.ServerStream
	ctx context.Context
}

// Context carries the call and the host's services.
func (s servingStream) Context() context.Context { return s.ctx }
