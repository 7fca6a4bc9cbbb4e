package daemon

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
)

// schemes registers what plugins declare for the entries that they write. Of two
// plugins that mean different things by one name, the first has it as long as it
// is configured.
type schemes struct {
	store *store.Store
	there func(instance string) bool // whether it is configured still

	mu    sync.Mutex
	owned map[string]owned // by name
}

type owned struct {
	instance string
	scheme   sdk.Scheme
}

func newSchemes(s *store.Store, there func(string) bool) *schemes {
	return &schemes{store: s, there: there, owned: map[string]owned{}}
}

// register takes over all schemes of an instance that it can have; the error
// says which it cannot.
func (s *schemes) register(ctx context.Context, instance string, declared []sdk.Scheme) error {
	var errs []error
	for _, x := range declared {
		if err := s.claim(instance, x); err != nil {
			errs = append(errs, err)
		} else if err := s.store.RegisterScheme(ctx, x); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (s *schemes) claim(instance string, x sdk.Scheme) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	has, taken := s.owned[x.Name]
	switch {
	case !taken || has.instance == instance || !s.there(has.instance):
		s.owned[x.Name] = owned{instance, x}
	case !alike(has.scheme, x):
		return sdk.Errorf(sdk.Conflict, "the scheme %s:// belongs to the plugin %s, which means something else by it; one of them has to choose another name", x.Name, has.instance)
	}
	return nil
}

func alike(a, b sdk.Scheme) bool {
	return a.ModelVisible == b.ModelVisible && a.Category == b.Category && a.Scope == b.Scope && slices.Equal(a.WritableBy, b.WritableBy)
}
