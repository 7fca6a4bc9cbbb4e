package main

import (
	"runtime"

	"github.com/bothyd/bothy/daemon/internal/confine"
)

// init keeps main on the first thread of the process: what is set for a thread
// only, such as the signal that ends a plugin with its daemon, holds for the
// program that this thread executes.
func init() { runtime.LockOSThread() }

// confined becomes a plugin within the bounds that the daemon handed over. It
// returns only when it could not.
func confined() error { return confine.Exec() }
