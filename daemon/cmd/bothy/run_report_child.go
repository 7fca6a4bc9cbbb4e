package main

import (
	"fmt"

	"github.com/bothyd/bothy/sdk/client/show"
)

// children tells of the runs that a call delegated work to, and of those below them.
func (t *runReport) children(call string) {
	within := false
	for _, r := range t.d.Children {
		if r.Depth == 1 {
			within = r.DelegatedBy == call
		}
		if within {
			t.hang(4+2*r.Depth, 4, fmt.Sprintf("└ run %s (agent %s): %s after %s", r.Alias, r.Agent, show.Status(r.Status), show.Plural(r.Turns, "turn")))
		}
	}
}
