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
