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
