package sandbox

import (
	"os"

	"github.com/bothyd/bothy/sandbox/frame"
)

// filtered refuses a container without a filter of its own: an OCI runtime that was
// built without seccomp makes one and says nothing.
func (p *podman) filtered(filters int) error {
	if filters == frame.Uncounted || filters > p.inherited() {
		return nil
	}
	return unavailable("the OCI runtime "+p.runtime()+" made a container without a filter of system calls", hintSeccomp, nil)
}

// inherited is how many filters a container has without one of its own: those that a
// service of ours has from this process. Of another one that is not known, and taken
// for none.
func (p *podman) inherited() int {
	if p.own == nil {
		return 0
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	return max(0, frame.Filters(status))
}
