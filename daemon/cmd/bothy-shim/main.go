// Command bothy-shim does for the daemon what has to be done in a process of
// its own, before or beside a plugin. It is installed beside the plugins, is
// small because one is started for every confined plugin, and means nothing to
// people.
package main

import (
	"fmt"
	"os"

	"github.com/bothyd/bothy/daemon/internal/confine"
)

// exitUnfit is the exit code for what the shim itself could not do.
const exitUnfit = 125

func main() {
	job := ""
	if len(os.Args) > 1 {
		job = os.Args[1]
	}
	var err error
	switch job {
	case "confine":
		err = confined()
	case "reap":
		err = reap()
	case "probe":
		err = confine.Probe()
	default:
		err = fmt.Errorf("%q is no job of it: bothyd starts this program, people do not", job)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bothy-shim:", err)
		os.Exit(exitUnfit)
	}
}
