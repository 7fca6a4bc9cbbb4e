package host

import (
	"context"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// register has the schemes known that a plugin declares, and warns about those
// that it cannot have.
func (i *instance) register(ctx context.Context, spec inspect.Spec, m *sdk.Manifest) []inspect.Diagnostic {
	if err := i.s.cfg.Register(ctx, i.name, m.Schemes); err != nil {
		return []inspect.Diagnostic{spec.Warn("entries that it writes have no scheme", err.Error())}
	}
	return nil
}
