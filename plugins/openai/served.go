package main

import (
	"context"
	"sync"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/provider"
)

// served is what the daemon talks to: the openai of the last configuration.
type served struct {
	config settings

	mu  sync.RWMutex
	now *openai
}

// configure takes the settings that were decoded into config. A call that runs
// goes on with the ones it began with.
func (s *served) configure(context.Context, sdk.Settings) error {
	next, err := newOpenAI(s.config)
	s.config = settings{} // the next configuration begins from nothing
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != nil {
		s.now.Close()
	}
	s.now = next
	return nil
}

func (s *served) current() (*openai, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.now == nil {
		return nil, sdk.Errorf(sdk.Unavailable, "the provider is not configured yet")
	}
	return s.now, nil
}

// Models implements provider.Provider.
func (s *served) Models(ctx context.Context) ([]sdk.Model, error) {
	p, err := s.current()
	if err != nil {
		return nil, err
	}
	return p.Models(ctx)
}

// Complete implements provider.Provider.
func (s *served) Complete(ctx context.Context, req sdk.Request, send func(sdk.Delta) error) error {
	p, err := s.current()
	if err != nil {
		return err
	}
	return p.Complete(ctx, req, send)
}

func (s *served) close() {
	if p, err := s.current(); err == nil {
		p.Close()
	}
}

var _ provider.Provider = (*served)(nil)
