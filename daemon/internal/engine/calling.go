package engine

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/bothyd/bothy/sdk"
)

// calling are calls that are under way and can be ended by themselves, by run and by path. Its zero value
// works.
type calling struct {
	mu    sync.Mutex
	calls map[int64]map[string]context.CancelCauseFunc
}

// begin takes note of a call; what it returns forgets it.
func (c *calling) begin(run int64, path string, cancel context.CancelCauseFunc) (over func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		c.calls = map[int64]map[string]context.CancelCauseFunc{}
	}
	if c.calls[run] == nil {
		c.calls[run] = map[string]context.CancelCauseFunc{}
	}
	c.calls[run][path] = cancel
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if delete(c.calls[run], path); len(c.calls[run]) == 0 {
			delete(c.calls, run)
		}
	}
}

// cancel ends a call with a cause; false is that there is none.
func (c *calling) cancel(run int64, path string, why error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	end, is := c.calls[run][path]
	if is {
		end(why)
	}
	return is
}

// CancelCall ends the call of a client in a run, by its action's path; with no path all
// that are under way there. It returns when they were told to end, with their paths: the
// end itself is in the journal. A call of a loop is no client's: Abort ends that. None is
// a conflict.
func (e *Engine) CancelCall(ctx context.Context, run int64, path string) ([]string, error) {
	r, err := e.cfg.Store.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	e.calling.mu.Lock()
	defer e.calling.mu.Unlock()
	var ended []string
	for _, at := range slices.Sorted(maps.Keys(e.calling.calls[run])) {
		if path == "" || path == at {
			e.calling.calls[run][at](errAborted)
			ended = append(ended, at)
		}
	}
	if len(ended) == 0 {
		return nil, sdk.Errorf(sdk.Conflict, "no such call of a client is under way in the run %s", r.Alias)
	}
	return ended, nil
}
