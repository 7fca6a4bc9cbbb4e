package host

import (
	"context"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// ready returns the link of a plugin that can be called. It waits while the
// plugin starts or is about to, and fails at once when it never will be.
func (i *instance) ready(ctx context.Context) (*link, error) {
	patience := time.After(i.s.cfg.ReadyWait)
	for {
		changed := i.s.changes.wait()
		if l := i.callable(); l != nil {
			return l, nil
		}
		if err := i.unready(); err != nil {
			return nil, err
		}
		select {
		case <-changed:
		case <-patience:
			i.mu.Lock()
			state, problem := i.state, reason(i.problem)
			i.mu.Unlock()
			return nil, sdk.Errorf(sdk.Unavailable, "the plugin %s is not ready (%s); try again in a moment. %s", i.name, state, problem)
		case <-ctx.Done():
			return nil, gaveUp(ctx)
		}
	}
}

// AwaitReady waits until a plugin can be called, for as long as ctx lasts: also for one that is broken, or that no block
// names now.
func (s *Supervisor) AwaitReady(ctx context.Context, instance string) error {
	for {
		changed := s.changes.wait()
		if i, err := s.instance(instance); err == nil && i.callable() != nil {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return gaveUp(ctx)
		}
	}
}

// callable is the link of a plugin that can be called now, else nil.
func (i *instance) callable() *link {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.state != Ready || i.link.alive.Err() != nil || i.link.failing.Load() {
		return nil
	}
	return i.link
}

// unready is why a plugin does not serve, and will not by itself; nil where it does or
// may soon.
func (i *instance) unready() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.state == Broken:
		return sdk.Errorf(sdk.Unavailable, "the plugin %s is broken: %w", i.name, i.problem)
	case i.held() != nil:
		return sdk.Errorf(sdk.Unavailable, "the plugin %s cannot serve yet: %w", i.name, i.held())
	case i.state == Stopped || i.state == Draining:
		return sdk.Errorf(sdk.Unavailable, "the plugin %s is %s", i.name, i.state)
	}
	return nil
}
