// Package hook is the plugin kind that listens to what the daemon does, and
// may change a value on its way.
package hook

import (
	"context"
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
)

// Hook serves subscriptions. Built-in parts of the daemon implement the same
// interface: nothing built in has a private door.
type Hook interface {
	// Subscriptions names what this hook wants to hear. The host asks once
	// after Configure; a name that is not in the catalogue is an error.
	Subscriptions() []sdk.Subscription

	// Event tells that something happened. payload is the JSON of the type
	// that the catalogue gives for the name.
	Event(ctx context.Context, name string, payload json.RawMessage) error

	// Filter passes a value on, changed or not. The returned JSON must be of
	// the same type.
	Filter(ctx context.Context, name string, value json.RawMessage) (json.RawMessage, error)
}
