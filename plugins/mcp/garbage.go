package main

import (
	"os"
	"runtime/debug"
)

// garbage is the GOGC of the plugin where its environment has none. Nearly all of its small heap is garbage of
// the last calls, and looking through it as often as Go does takes a third of what a call costs.
const garbage = 400

// collectLess has the plugin look through its memory less often.
func collectLess() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
}
