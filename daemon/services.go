package daemon

import (
	"context"

	"github.com/bothyd/bothy/daemon/internal/callback"
	"github.com/bothyd/bothy/daemon/internal/credential"
	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/sdk"
)

// services is what plugins may ask of the daemon. Plugins start before the engine
// is made and may ask for secrets from then on; all else is asked for while the
// engine has a call of theirs under way.
type services struct {
	*engine.Services
	secret func(name string) (string, error)
	credential.Logins
}

var _ callback.Services = services{}

// Secret implements callback.Services: wherever secret() finds it.
func (s services) Secret(_ context.Context, _ sdk.Caller, name string) (string, error) {
	return s.secret(name)
}
