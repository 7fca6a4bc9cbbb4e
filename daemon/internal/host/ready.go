package host

import (
	"context"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// ready returns the link of a plugin that can be called. It waits while the
// plugin starts or is about to, and fails at once when it never will be.
func (i *instance) ready(ctx context.Context) (*link, error) {
	patience := time.NewTimer(i.s.cfg.ReadyWait)
	defer patience.Stop()
	for {
		changed := i.s.changes.wait()
		i.mu.Lock()
		state, l, problem, refusal, held := i.state, i.link, i.problem, i.refusal, i.held
		i.mu.Unlock()
		switch {
		case state == Ready && l.alive.Err() == nil && !l.failing.Load():
			return l, nil
		case state == Broken && refusal != nil:
			return nil, sdk.Errorf(sdk.Unavailable, "the plugin %s is broken: %w", i.name, refusal)
		case state == Broken:
			return nil, sdk.Errorf(sdk.Unavailable, "the plugin %s is broken: %s", i.name, problem)
		case held != "":
			return nil, sdk.Errorf(sdk.Unavailable, "the plugin %s cannot serve yet: %s", i.name, held)
		case state == Stopped || state == Draining:
			return nil, sdk.Errorf(sdk.Unavailable, "the plugin %s is %s", i.name, state)
		}
		select {
		case <-changed:
		case <-patience.C:
			return nil, sdk.Errorf(sdk.Unavailable, "the plugin %s is not ready (%s); try again in a moment. %s", i.name, state, problem)
		case <-ctx.Done():
			return nil, gaveUp(ctx)
		}
	}
}
