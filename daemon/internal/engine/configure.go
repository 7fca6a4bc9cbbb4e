package engine

import (
	"sync/atomic"

	"github.com/bothyd/bothy/sdk"
)

// profiles are the agents in force. A loop takes its agent when it begins and
// keeps it.
type profiles struct {
	atomic.Pointer[map[string]sdk.Agent]
}

// Configure makes these the agents of all loops that begin from now on. The map
// is the engine's from then on.
func (e *Engine) Configure(agents map[string]sdk.Agent) { e.agents.Store(&agents) }
