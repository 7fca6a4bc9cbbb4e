package callback

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/bothyd/bothy/sdk"
)

// maxDepth is how far calls may call: a tool that invokes a tool that invokes
// a tool ... ends there.
const maxDepth = 8

// Silence is the clock of a call that may be silent for a time only.
type Silence interface {
	// Hold stops the clock until it is let go of, when the time begins anew.
	Hold() (letGo func())
	// Pause stops the time that the whole call may take, until it goes on.
	Pause() (goOn func())
}

// running is a call that a plugin serves now.
type running struct {
	sdk.Caller
	ctx         context.Context // ends with the call
	silence     Silence
	completions atomic.Int64 // that were asked for on its behalf
	questions   atomic.Int64 // likewise, of people
}

// Calls knows the calls that plugins serve. What a plugin calls back is tied to one of
// its own.
type Calls struct {
	cfg Config

	mu    sync.Mutex
	calls map[string]*running
}

// New knows no call.
func New(cfg Config) *Calls { return &Calls{cfg: cfg, calls: map[string]*running{}} }

// Begin has a call known until end. What is asked for on its behalf ends with ctx.
func (t *Calls) Begin(ctx context.Context, c sdk.Caller, s Silence) (end func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls[c.Call] = &running{Caller: c, ctx: ctx, silence: s}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.calls, c.Call)
	}
}

// find returns a call of the plugin's own.
func (t *Calls) find(instance, id string) (*running, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, ok := t.calls[id]
	if !ok || r.Instance != instance {
		return nil, sdk.Errorf(sdk.Validation, "this service needs a run: call it with the context of a call that the plugin serves now")
	}
	return r, nil
}

type depthKey struct{}

// Depth is how many calls lie above the work of ctx.
func Depth(ctx context.Context) int {
	n, _ := ctx.Value(depthKey{}).(int)
	return n
}

func deeper(ctx context.Context, n int) context.Context { return context.WithValue(ctx, depthKey{}, n) }

// Below is the context of one more call, unless calls lie too deep for it.
func Below(ctx context.Context, what string) (context.Context, error) {
	n := Depth(ctx) + 1
	if n > maxDepth {
		return nil, sdk.Errorf(sdk.Validation, "calls call each other %d deep: %s is refused", maxDepth, what)
	}
	return deeper(ctx, n), nil
}
