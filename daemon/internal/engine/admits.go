package engine

import "github.com/bothyd/bothy/sdk"

// Admits reports whether an agent may use a tool, by its globs over bare and
// qualified names. It is the engine's own answer, for who explains it.
func Admits(agent sdk.Agent, t sdk.Tool) bool { return admits(agent, t) }
