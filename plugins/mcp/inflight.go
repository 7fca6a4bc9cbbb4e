package main

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/tool"
)

// inFlight are the calls that the server works on, by the token that it names when it
// tells how far a call is.
type inFlight struct {
	mu    sync.Mutex
	calls map[string]working
}

// working is one call.
type working struct {
	ctx context.Context // of the call: the daemon's services are reached in it
	run string
	out tool.Stream
}

// begin notes a call until the function that it returns is called.
func (f *inFlight) begin(ctx context.Context, call sdk.Invocation, out tool.Stream) (end func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls = map[string]working{}
	}
	f.calls[call.CallID] = working{ctx, call.Run, out}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.calls, call.CallID)
	}
}

// serving is the context of the call for which the server asks for something. A server of
// before 2026 does not say which: where it works for several runs, nobody knows.
func (f *inFlight) serving(ctx context.Context) (context.Context, error) {
	if host.Call(ctx) != "" {
		return ctx, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var found *working
	for _, w := range f.calls {
		if found != nil && found.run != w.run {
			return nil, sdk.Errorf(sdk.Conflict, "the server works for several runs, and does not say for which it asks")
		}
		found = &w
	}
	if found == nil {
		return nil, sdk.Errorf(sdk.Validation, "the server asks for something while it works on no call")
	}
	return found.ctx, nil
}

// progress tells people how far a call is.
func (f *inFlight) progress(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
	id, _ := r.Params.ProgressToken.(string)
	f.mu.Lock()
	call, works := f.calls[id]
	f.mu.Unlock()
	if !works {
		return // of a call that is over
	}
	fraction := -1.0
	if r.Params.Total > 0 {
		fraction = min(max(r.Params.Progress/r.Params.Total, 0), 1)
	}
	_ = call.out.Progress(clip(r.Params.Message, 1000), fraction)
}
