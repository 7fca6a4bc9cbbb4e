package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/bothyd/bothy/daemon/internal/group"
)

// reap outlives the daemon for as long as it takes to kill what its plugins
// have started. Signals that end the daemon in order are none of its business:
// the end of its input is.
func reap() error {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	group.Reap(os.Stdin)
	return nil
}
