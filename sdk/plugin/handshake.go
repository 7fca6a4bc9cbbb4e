package plugin

import (
	goplugin "github.com/hashicorp/go-plugin"

	"github.com/bothyd/bothy/sdk/internal/wire"
)

// Protocol is the major version of sdk/proto that this SDK speaks. Within a
// major version both sides skip what they do not know.
const Protocol = wire.Protocol

// Features are what this SDK's side of the protocol can beyond the floor of its
// version, as a daemon tells plugins. The other side skips what it does not know.
func Features() []string { return nil }

// MaxMessage is the most bytes of one message, in either direction.
const MaxMessage = wire.MaxMessage

// Handshake is what the daemon and its plugins show each other before anything
// else. The cookie is no secret: it tells a plugin that was started by hand
// from one that the daemon started.
var Handshake = goplugin.HandshakeConfig{
	ProtocolVersion:  Protocol,
	MagicCookieKey:   wire.CookieKey,
	MagicCookieValue: wire.CookieValue,
}

// EnvHostPID names the variable that holds the daemon's process id. A plugin
// accepts connections of that process only.
const EnvHostPID = wire.EnvHostPID

// The names under which a binary serves its parts to go-plugin. They are the
// keys of a PluginSet and the kinds of a manifest.
const (
	KindPlugin   = "plugin"
	KindTool     = "tool"
	KindProvider = "provider"
	KindSkill    = "skill"
	KindHook     = "hook"
	KindChannel  = "channel"
)
