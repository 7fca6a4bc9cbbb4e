package host

import (
	"context"

	"github.com/bothyd/bothy/sdk"
)

// register has the schemes known that a plugin declares, and warns about those
// that it cannot have.
func (i *instance) register(ctx context.Context, spec Spec, m *sdk.Manifest) []Diagnostic {
	if err := i.s.cfg.Register(ctx, i.name, m.Schemes); err != nil {
		return []Diagnostic{warn(spec, "entries that it writes have no scheme", err.Error())}
	}
	return nil
}
