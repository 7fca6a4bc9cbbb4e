package host

import (
	"context"
	"crypto/subtle"
	"slices"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
)

// Services are what plugins may call back; package daemon fills them in. The
// host has checked the caller's grant, and that the call is one that the
// plugin serves now. ctx ends with that call.
type Services interface {
	Entry(ctx context.Context, c Caller, path string) (sdk.Entry, error)
	Entries(ctx context.Context, c Caller, glob string) ([]sdk.Entry, error)
	// Write gets writes whose writer is plugin, whatever the plugin said.
	Write(ctx context.Context, c Caller, writes []sdk.Write) ([]sdk.Entry, error)
	// Invoke must pass ctx on to Supervisor.Invoke: it carries how deep calls go.
	Invoke(ctx context.Context, c Caller, tool string, arguments []byte) (sdk.ToolResult, error)
	Complete(ctx context.Context, c Caller, req sdk.Request, send func(sdk.Delta) error) error
	// Secret gets names that the caller's block lists. The caller's Call is
	// empty when it is asked for during Configure.
	Secret(ctx context.Context, c Caller, name string) (string, error)
}

// backchannel is the daemon as one plugin sees it.
type backchannel struct {
	s    *Supervisor
	i    *instance
	spec Spec // what this process was started with
}

func (b *backchannel) register(r grpc.ServiceRegistrar) { host.Register(r, b) }

// admit guards the server: the kernel has told which process is there, and who
// comes by the address shows the token besides.
func (b *backchannel) admit(token, address string) []grpc.ServerOption {
	check := func(ctx context.Context) error {
		p, ok := peer.FromContext(ctx)
		if !ok || p.LocalAddr == nil || p.LocalAddr.String() != address {
			return nil
		}
		shown := metadata.ValueFromIncomingContext(ctx, host.TokenKey)
		if len(shown) != 1 || subtle.ConstantTimeCompare([]byte(shown[0]), []byte(token)) != 1 {
			return status.Errorf(codes.Unauthenticated, "send the token of Configure in the metadata key %s", host.TokenKey)
		}
		return nil
	}
	unary := func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		if err := check(ctx); err != nil {
			return nil, err
		}
		return next(ctx, req)
	}
	stream := func(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		if err := check(ss.Context()); err != nil {
			return err
		}
		return next(srv, ss)
	}
	return []grpc.ServerOption{grpc.ChainUnaryInterceptor(unary), grpc.ChainStreamInterceptor(stream)}
}

// caller finds the call that a request serves, checks the grant, and ties the
// request to the call: it ends when either does.
func (b *backchannel) caller(ctx context.Context, grant string) (context.Context, context.CancelFunc, Caller, error) {
	if !b.spec.granted(grant) {
		return nil, nil, Caller{}, sdk.Errorf(sdk.Permission, "the plugin %s is not granted %q: add it to grants in its block", b.i.name, grant)
	}
	r, err := b.s.calls.find(b.i.name, host.Call(ctx))
	if err != nil {
		return nil, nil, Caller{}, err
	}
	ctx, cancel := context.WithCancel(deeper(ctx, r.Depth))
	stop := context.AfterFunc(r.ctx, cancel)
	return ctx, func() { stop(); cancel() }, r.Caller, nil
}

// Entry implements host.Host.
func (b *backchannel) Entry(ctx context.Context, path string) (sdk.Entry, error) {
	ctx, done, c, err := b.caller(ctx, sdk.GrantEntries)
	if err != nil {
		return sdk.Entry{}, err
	}
	defer done()
	return b.s.cfg.Services.Entry(ctx, c, path)
}

// Entries implements host.Host.
func (b *backchannel) Entries(ctx context.Context, glob string) ([]sdk.Entry, error) {
	ctx, done, c, err := b.caller(ctx, sdk.GrantEntries)
	if err != nil {
		return nil, err
	}
	defer done()
	return b.s.cfg.Services.Entries(ctx, c, glob)
}

// Write implements host.Host. The writer is plugin, whatever the plugin says.
func (b *backchannel) Write(ctx context.Context, writes ...sdk.Write) ([]sdk.Entry, error) {
	ctx, done, c, err := b.caller(ctx, sdk.GrantEntries)
	if err != nil {
		return nil, err
	}
	defer done()
	for n := range writes {
		writes[n].Writer = sdk.WriterPlugin
	}
	return b.s.cfg.Services.Write(ctx, c, writes)
}

// Invoke implements host.Host.
func (b *backchannel) Invoke(ctx context.Context, tool string, arguments []byte) (sdk.ToolResult, error) {
	ctx, done, c, err := b.caller(ctx, sdk.GrantTools)
	if err != nil {
		return sdk.ToolResult{}, err
	}
	defer done()
	if err := b.mayCall(tool); err != nil {
		return sdk.ToolResult{}, err
	}
	return b.s.cfg.Services.Invoke(ctx, c, tool, arguments)
}

// Complete implements host.Host.
func (b *backchannel) Complete(ctx context.Context, req sdk.Request, send func(sdk.Delta) error) error {
	ctx, done, c, err := b.caller(ctx, sdk.GrantModels)
	if err != nil {
		return err
	}
	defer done()
	if err := b.mayAsk(c, req.Model); err != nil {
		return err
	}
	req.Run = c.Run
	return b.s.cfg.Services.Complete(ctx, c, req, send)
}

// Secret implements host.Host. It needs no call: a plugin may ask when it is
// configured.
func (b *backchannel) Secret(ctx context.Context, name string) (string, error) {
	spec := b.spec
	if !spec.granted(sdk.GrantSecrets) {
		return "", sdk.Errorf(sdk.Permission, "the plugin %s is not granted %q: add it to grants in its block", spec.Instance, sdk.GrantSecrets)
	}
	if !slices.Contains(spec.Secrets, name) {
		return "", sdk.Errorf(sdk.Permission, "the block of plugin %s does not name the secret %q", spec.Instance, name)
	}
	c := Caller{Instance: spec.Instance}
	if r, err := b.s.calls.find(spec.Instance, host.Call(ctx)); err == nil {
		c = r.Caller
	}
	v, err := b.s.cfg.Services.Secret(ctx, c, name)
	if err == nil {
		b.s.cfg.Redact(v)
	}
	return v, err
}

// Log implements host.Host. It needs no grant; like standard error, it is
// limited.
func (b *backchannel) Log(_ context.Context, level, message string, fields map[string]string) error {
	if !b.i.limit.admit(len(message)) {
		return nil
	}
	args := make([]any, 0, 2*len(fields))
	for _, k := range keys(fields) {
		args = append(args, k, fields[k])
	}
	l := hclog.LevelFromString(level)
	if l == hclog.NoLevel || l > hclog.Error {
		l = hclog.Info
	}
	b.i.log.Log(l, message, args...)
	return nil
}

var _ host.Host = (*backchannel)(nil)
