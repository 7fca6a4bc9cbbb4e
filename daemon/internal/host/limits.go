package host

import (
	"strconv"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// limits are those of one plugin. One that runs containers passes its limits on
// to them, so it has none: its containers have their own.
func (c *Config) limits(spec inspect.Spec) config.Limits {
	if spec.Granted(sdk.GrantSandbox) {
		return config.Limits{}
	}
	l := spec.Limits
	if l.Memory == 0 {
		l.Memory = c.Memory
	}
	return l
}

// unlimited warns about limits that cannot hold: what runs containers would pass
// them on, and a container has its own.
func unlimited(spec inspect.Spec) []inspect.Diagnostic {
	if !spec.Granted(sdk.GrantSandbox) || spec.Limits.Memory <= 0 && spec.Limits.Files <= 0 {
		return nil
	}
	return []inspect.Diagnostic{spec.Warn("its limits do not hold, for it is granted "+strconv.Quote(sdk.GrantSandbox),
		"The containers that it runs would inherit them. Take the limits block away, and bound the containers in the sandbox block.")}
}
