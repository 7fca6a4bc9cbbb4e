package host

import (
	"context"
	"errors"
	"reflect"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// ownedScheme is one that a plugin declares for the entries that it writes. Of two plugins
// that mean different things by one name, the first has it as long as it is configured.
type ownedScheme struct {
	instance string
	scheme   sdk.Scheme
}

// register has the schemes known that a plugin declares, and warns about those
// that it cannot have.
func (i *instance) register(ctx context.Context, spec inspect.Spec, m *sdk.Manifest) []inspect.Diagnostic {
	var errs []error
	for _, x := range m.Schemes {
		giveBack, err := i.s.claim(i, x)
		if err == nil {
			if err = i.s.cfg.Register(ctx, x); err != nil {
				giveBack()
			}
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return []inspect.Diagnostic{spec.Warn("entries that it writes have no scheme", err.Error())}
	}
	return nil
}

// claim gives an instance a scheme, unless another one that is configured has it. What cannot be registered is given back.
func (s *Supervisor) claim(i *instance, x sdk.Scheme) (giveBack func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	has, taken := s.schemes[x.Name]
	switch {
	case !taken || has.instance == i.name || s.byName[has.instance] == nil:
		s.schemes[x.Name] = ownedScheme{i.name, x}
		return func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if delete(s.schemes, x.Name); taken {
				s.schemes[x.Name] = has
			}
		}, nil
	case !reflect.DeepEqual(has.scheme, x):
		return nil, sdk.Errorf(sdk.Conflict, "the scheme %s:// belongs to the plugin %s, which means something else by it; one of them has to choose another name", x.Name, has.instance)
	}
	return func() {}, nil
}

// HasScheme reports whether a plugin, by the label of its block, has a scheme.
func (s *Supervisor) HasScheme(instance, scheme string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	has, taken := s.schemes[scheme]
	return taken && has.instance == instance
}
