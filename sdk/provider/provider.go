// Package provider is the plugin kind that answers completions.
package provider

import (
	"context"

	"github.com/bothyd/bothy/sdk"
)

// Provider speaks to one model server, the one its block configures. Both
// methods may be called concurrently.
type Provider interface {
	// Models lists what the server offers. A server that cannot list answers
	// with an empty list and no error.
	Models(ctx context.Context) ([]sdk.Model, error)

	// Complete asks for one completion and hands each piece to send, in
	// order, from one goroutine. The last piece is a Finish; a stream without
	// one is incomplete. It never retries: it ends with a *sdk.ProviderError
	// that says what a retry could do. An error of send ends the call.
	Complete(ctx context.Context, req sdk.Request, send func(sdk.Delta) error) error
}

// ErrCannotPull is the answer of a provider that is no Puller.
var ErrCannotPull error = sdk.Errorf(sdk.NotFound, "this provider cannot get models onto its server: get them there yourself")

// Puller is a Provider that gets models onto its server when a person asks for it.
type Puller interface {
	// Pull gets a model by the server's own name for it, and returns when it can be
	// used. progress is told how far it is, from one goroutine; an error of it, and
	// the end of ctx, give it up.
	Pull(ctx context.Context, model string, progress func(sdk.PullProgress) error) error
}

// Authenticator is what a Provider also is when a person can sign in to its server.
type Authenticator interface {
	// Authenticate hands each step to show, in order, from one goroutine; the last
	// one is Done. It does the waiting itself, for as long as the server gives the
	// person, and ends soon after ctx ends. It keeps nothing: what it got is in Done,
	// for the caller to keep as a secret, and comes back with a configuration as an
	// attribute of the block. A person who refused is an *sdk.Error of outcome
	// permission, one who took too long of outcome timeout. An error of show ends it.
	Authenticate(ctx context.Context, show func(sdk.AuthStep) error) error
}

// ErrCannotAuthenticate is the answer of a provider that is no Authenticator.
var ErrCannotAuthenticate error = sdk.Errorf(sdk.Unavailable, "nobody can sign in to this provider: its block says what it needs")

// Authenticate signs a person in to a provider, where that is an Authenticator.
func Authenticate(ctx context.Context, p Provider, show func(sdk.AuthStep) error) error {
	a, can := p.(Authenticator)
	if !can {
		return ErrCannotAuthenticate
	}
	return a.Authenticate(ctx, show)
}
