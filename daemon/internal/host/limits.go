package host

import (
	"strconv"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// limits are those of one plugin. One that runs containers passes its limits on
// to them, so it has none: its containers have their own.
func (c *Config) limits(spec Spec) config.Limits {
	if spec.granted(sdk.GrantSandbox) {
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
func unlimited(spec Spec) []Diagnostic {
	if !spec.granted(sdk.GrantSandbox) || spec.Limits.Memory <= 0 && spec.Limits.Files <= 0 {
		return nil
	}
	return []Diagnostic{warn(spec, "its limits do not hold, for it is granted "+strconv.Quote(sdk.GrantSandbox),
		"The containers that it runs would inherit them. Take the limits block away, and bound the containers in the sandbox block.")}
}
