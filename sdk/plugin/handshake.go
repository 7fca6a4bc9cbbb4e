package plugin

import "github.com/bothyd/bothy/sdk/internal/wire"

// Protocol is the major version of sdk/proto that this SDK speaks. Within a
// major version both sides skip what they do not know.
const Protocol = wire.Protocol

// Features are what this SDK's side of the protocol can beyond the floor of its
// version, as a daemon tells plugins. The other side skips what it does not know.
func Features() []string { return nil }

// MaxMessage is the most bytes of one message, in either direction.
const MaxMessage = wire.MaxMessage

// CookieKey and CookieValue are a variable that the daemon gives its plugins. It is
// no secret: it tells a plugin that was started by hand from one that the daemon
// started.
const (
	CookieKey   = wire.CookieKey
	CookieValue = wire.CookieValue
)

// EnvHostPID names the variable that holds the daemon's process id. A plugin
// accepts connections of that process only.
const EnvHostPID = wire.EnvHostPID

// The kinds of a manifest, and KindPlugin, what every binary serves.
const (
	KindPlugin   = "plugin"
	KindTool     = "tool"
	KindProvider = "provider"
	KindSkill    = "skill"
	KindHook     = "hook"
	KindChannel  = "channel"
	KindAgent    = "agent"
)
