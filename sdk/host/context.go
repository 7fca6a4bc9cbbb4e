package host

import (
	"context"

	"google.golang.org/grpc/metadata"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/wire"
)

// CallKey and TokenKey are the metadata keys of the plugin protocol. CallKey
// names the call that a request serves, from the daemon to a plugin and, when
// the plugin calls back, from the plugin to the daemon. TokenKey carries the
// token of Configure, with each request to the daemon's services.
const (
	CallKey  = "bothy-call"
	TokenKey = "bothy-token"
)

type hostKey struct{}

// WithCall notes the call that work done with the context serves.
func WithCall(ctx context.Context, id string) context.Context {
	if id == "" {
		return ctx
	}
	return wire.WithCall(ctx, id)
}

// Call returns the call that the context serves; empty when there is none.
func Call(ctx context.Context) string { return wire.CallOf(ctx) }

// Incoming takes the call out of a received request's metadata.
func Incoming(ctx context.Context) context.Context {
	if v := metadata.ValueFromIncomingContext(ctx, CallKey); len(v) == 1 {
		return WithCall(ctx, v[0])
	}
	return ctx
}

// Outgoing adds the context's call to the metadata of requests that are made
// with it.
func Outgoing(ctx context.Context) context.Context {
	if id := Call(ctx); id != "" {
		return metadata.AppendToOutgoingContext(ctx, CallKey, id)
	}
	return ctx
}

// With makes h what From finds. The SDK does this for every call that a plugin
// serves.
func With(ctx context.Context, h Host) context.Context {
	return context.WithValue(ctx, hostKey{}, h)
}

// From returns the daemon's services for the call that ctx belongs to. It is
// never nil: outside of a daemon every service answers unavailable.
func From(ctx context.Context) Host {
	if h, ok := ctx.Value(hostKey{}).(Host); ok {
		return h
	}
	return absent
}

// absent is the host of a plugin that no daemon runs.
var absent = Refusing(sdk.Errorf(sdk.Unavailable, "no daemon offers its services here: run the plugin under bothyd"))

// Refusing is a Host whose every service answers with err, also Log.
func Refusing(err error) Host { return refusing{err} }

type refusing struct{ err error }

func (r refusing) Entry(context.Context, string) (sdk.Entry, error)         { return sdk.Entry{}, r.err }
func (r refusing) Entries(context.Context, string) ([]sdk.Entry, error)     { return nil, r.err }
func (r refusing) Write(context.Context, ...sdk.Write) ([]sdk.Entry, error) { return nil, r.err }
func (r refusing) Do(context.Context, ...sdk.EntryCall) ([]sdk.EntryDone, error) {
	return nil, r.err
}
func (r refusing) Invoke(context.Context, string, []byte) (sdk.ToolResult, error) {
	return sdk.ToolResult{}, r.err
}
func (r refusing) Complete(context.Context, sdk.Request, func(sdk.Delta) error) error { return r.err }
func (r refusing) Secret(context.Context, string) (string, error)                     { return "", r.err }
func (r refusing) Login(context.Context) (string, error)                              { return "", r.err }
func (r refusing) KeepLogin(context.Context, string, string) error                    { return r.err }
func (r refusing) Log(context.Context, string, string, map[string]string) error       { return r.err }
