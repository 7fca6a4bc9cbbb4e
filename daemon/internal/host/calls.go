package host

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/bothyd/bothy/sdk"
)

// maxDepth is how far calls may call: a tool that invokes a tool that invokes
// a tool ... ends there.
const maxDepth = 8

// running is a call that a plugin serves now.
type running struct {
	sdk.Caller
	ctx         context.Context // ends with the call
	silence     *silence        // nil: it may be silent
	completions atomic.Int64    // that were asked for on its behalf
}

// callTable knows the calls that are being served. What a plugin calls back is
// tied to one of its own.
type callTable struct {
	mu    sync.Mutex
	calls map[string]*running
}

func (t *callTable) begin(ctx context.Context, c sdk.Caller, s *silence) (end func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.calls == nil {
		t.calls = map[string]*running{}
	}
	t.calls[c.Call] = &running{Caller: c, ctx: ctx, silence: s}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.calls, c.Call)
	}
}

// find returns a call of the plugin's own.
func (t *callTable) find(instance, id string) (*running, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, ok := t.calls[id]
	if !ok || r.Instance != instance {
		return nil, sdk.Errorf(sdk.Validation, "this service needs a run: call it with the context of a call that the plugin serves now")
	}
	return r, nil
}

type depthKey struct{}

// depth is how many calls lie above the work of ctx.
func depth(ctx context.Context) int {
	n, _ := ctx.Value(depthKey{}).(int)
	return n
}

func deeper(ctx context.Context, n int) context.Context { return context.WithValue(ctx, depthKey{}, n) }

// below is the context of one more call, unless calls lie too deep for it.
func below(ctx context.Context, what string) (context.Context, error) {
	n := depth(ctx) + 1
	if n > maxDepth {
		return nil, sdk.Errorf(sdk.Validation, "calls call each other %d deep: %s is refused", maxDepth, what)
	}
	return deeper(ctx, n), nil
}
