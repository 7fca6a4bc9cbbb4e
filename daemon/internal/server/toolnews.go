package server

import (
	"sync"

	"github.com/bothyd/bothy/sdk/rpc"
)

// toolNews is whether one client is still to be told that tools changed. At most one line of
// it is on its way; what changes meanwhile is told in one more.
type toolNews struct {
	out *outbox

	mu      sync.Mutex
	busy    bool // a line is on its way; the greeting is the first
	waiting bool // something changed since
}

// tell has the client told, now or when it has read what it was told before.
func (n *toolNews) tell() {
	n.mu.Lock()
	told := n.busy
	n.waiting, n.busy = told, true
	n.mu.Unlock()
	if !told {
		n.out.note(rpc.NoteTools, rpc.Empty{}, n.sent)
	}
}

// sent is called when a line was written, or never will be.
func (n *toolNews) sent() {
	n.mu.Lock()
	n.busy = n.waiting
	again := n.waiting
	n.waiting = false
	n.mu.Unlock()
	if again {
		n.out.note(rpc.NoteTools, rpc.Empty{}, n.sent)
	}
}
