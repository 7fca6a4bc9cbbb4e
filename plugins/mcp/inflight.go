package main

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk/tool"
)

// inFlight are the calls that the server works on, by the token that it names when it
// tells how far a call is.
type inFlight struct {
	mu    sync.Mutex
	calls map[string]tool.Stream
}

// begin notes a call until the function that it returns is called.
func (f *inFlight) begin(_ context.Context, id string, out tool.Stream) (end func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls = map[string]tool.Stream{}
	}
	f.calls[id] = out
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.calls, id)
	}
}

// progress tells people how far a call is.
func (f *inFlight) progress(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
	id, _ := r.Params.ProgressToken.(string)
	f.mu.Lock()
	out := f.calls[id]
	f.mu.Unlock()
	if out == nil {
		return // of a call that is over
	}
	fraction := -1.0
	if r.Params.Total > 0 {
		fraction = min(max(r.Params.Progress/r.Params.Total, 0), 1)
	}
	_ = out.Progress(clip(r.Params.Message, 1000), fraction)
}
