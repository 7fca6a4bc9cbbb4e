package plugin

import (
	"context"
	"sync"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/provider"
)

// ConfiguredProvider serves the provider that was made of the last
// configuration. A completion that runs goes on with the one it began with.
// A plugin that is nothing else is served by Serve; else give it to Options as
// Provider, its Config as Config, and its methods Configure and Close under
// those names.
type ConfiguredProvider[C any] struct {
	Config C         // the block's attributes are decoded into this
	Needs  sdk.Needs // for Serve: where it is confined; the network unless it is set
	create func(C) (provider.Provider, error)

	mu  sync.RWMutex
	now provider.Provider
}

// NewConfiguredProvider makes one; create is called with each configuration.
// A provider that has a Close() is closed when the next one takes its place.
func NewConfiguredProvider[C any](create func(C) (provider.Provider, error)) *ConfiguredProvider[C] {
	return &ConfiguredProvider[C]{create: create, Needs: sdk.Needs{Network: true}}
}

// Serve serves it as a whole plugin until the daemon ends it, as the function of
// that name does.
func (s *ConfiguredProvider[C]) Serve(name, version string) { Serve(s.Options(name, version)) }

// Options are those of a plugin that is nothing else: what Serve serves, and tests
// configure with sdktest.Configure.
func (s *ConfiguredProvider[C]) Options(name, version string) Options {
	return Options{Name: name, Version: version, Provider: s, Needs: s.Needs, Config: &s.Config, Configure: s.Configure, Close: s.Close}
}

// Configure takes the settings that were decoded into Config. When they cannot
// be used, the provider that is there stays.
func (s *ConfiguredProvider[C]) Configure(context.Context, sdk.Settings) error {
	next, err := s.create(s.Config)
	var nothing C
	s.Config = nothing // the next configuration begins from nothing
	if err != nil {
		return err
	}
	s.mu.Lock()
	last := s.now
	s.now = next
	s.mu.Unlock()
	closeProvider(last)
	return nil
}

// Models implements provider.Provider.
func (s *ConfiguredProvider[C]) Models(ctx context.Context) ([]sdk.Model, error) {
	p, err := s.current()
	if err != nil {
		return nil, err
	}
	return p.Models(ctx)
}

// Complete implements provider.Provider.
func (s *ConfiguredProvider[C]) Complete(ctx context.Context, req sdk.Request, send func(sdk.Delta) error) error {
	p, err := s.current()
	if err != nil {
		return err
	}
	return p.Complete(ctx, req, send)
}

// Pull implements provider.Puller, where the provider that was made does.
func (s *ConfiguredProvider[C]) Pull(ctx context.Context, model string, progress func(sdk.PullProgress) error) error {
	p, err := s.current()
	if err != nil {
		return err
	}
	puller, can := p.(provider.Puller)
	if !can {
		return provider.ErrCannotPull
	}
	return puller.Pull(ctx, model, progress)
}

// Authenticate implements provider.Authenticator, where the provider that was made does.
func (s *ConfiguredProvider[C]) Authenticate(ctx context.Context, show func(sdk.AuthStep) error) error {
	p, err := s.current()
	if err != nil {
		return err
	}
	return provider.Authenticate(ctx, p, show)
}

// Close closes the provider that is there.
func (s *ConfiguredProvider[C]) Close() {
	if p, err := s.current(); err == nil {
		closeProvider(p)
	}
}

// reconfigures tells Serve that Configure may be called again.
func (s *ConfiguredProvider[C]) reconfigures() {}

func (s *ConfiguredProvider[C]) current() (provider.Provider, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.now == nil {
		return nil, sdk.Errorf(sdk.Unavailable, "the provider is not configured yet")
	}
	return s.now, nil
}

func closeProvider(p provider.Provider) {
	if c, ok := p.(interface{ Close() }); ok {
		c.Close()
	}
}

var _ provider.Provider = (*ConfiguredProvider[struct{}])(nil)
