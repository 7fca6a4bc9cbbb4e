package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/wire"
	"github.com/bothyd/bothy/sdk/provider"
)

// ProviderChecks are the checks of the kind provider. A model that it lists is
// asked only with Subject.Call: that may cost money.
func ProviderChecks(sdk.Manifest) []Check {
	return []Check{
		{"provider: models", func(ctx context.Context, s Subject) error { _, err := models(ctx, s); return err }},
		{"provider: unknown model", func(ctx context.Context, s Subject) error {
			err := completed(ctx, s, "x-no-such-model")
			if refused(err) {
				err = nil // it said why not
			}
			return errors.Join(err, alive(ctx, s))
		}},
		{"provider: completion", func(ctx context.Context, s Subject) error {
			if !s.Call {
				return Skip("give --call to have a model asked")
			}
			list, err := models(ctx, s)
			if err != nil {
				return err
			}
			if len(list) == 0 {
				return Skip("the provider lists no models")
			}
			err = completed(ctx, s, list[0].Name)
			if refused(err) {
				err = Warn("the model %s was asked, and did not answer, so that no answer was looked at: %v", list[0].Name, err)
			}
			return errors.Join(err, alive(ctx, s))
		}},
		{"provider: a reader that leaves", left},
		{"provider: sign-in", signIn},
	}
}

// refused reports whether an error is the plugin's own answer: what its server says, or
// does not, is no mistake of the plugin.
func refused(err error) bool {
	said := answered(err) != nil || errors.As(err, new(*sdk.ProviderError))
	return said && !errors.Is(err, wire.ErrNoFinish) && !strings.Contains(err.Error(), panicked)
}

// models lists the models and looks at them.
func models(ctx context.Context, s Subject) (list []sdk.Model, err error) {
	err = within(ctx, "Models", patience, func(ctx context.Context) (err error) {
		list, err = provider.NewClient(s.Conn).Models(ctx)
		return err
	})
	switch {
	case refused(err):
		return nil, Warn("the models cannot be listed with these settings: %v", err)
	case err != nil:
		return nil, fmt.Errorf("calling Models failed: %w", err)
	}
	return list, Models(list)
}

// Models says what is wrong with a list of models; nil when nothing is.
func Models(list []sdk.Model) error {
	var names []string
	for _, m := range list {
		if m.Name == "" || m.Context < 0 {
			return fmt.Errorf("a model has no name, or a negative context: %+v", m)
		}
		if slices.Contains(names, m.Name) {
			return fmt.Errorf("the model %s is listed twice", m.Name)
		}
		names = append(names, m.Name)
	}
	return nil
}

// completed asks a model and looks at the order of the pieces.
func completed(ctx context.Context, s Subject, model string) error {
	order := &Deltas{}
	err := within(ctx, "the completion", 3*patience, func(ctx context.Context) error {
		return provider.NewClient(s.Conn).Complete(ctx, question(model), order.Add)
	})
	if err != nil {
		return err
	}
	return order.End()
}

func question(model string) sdk.Request {
	return sdk.Request{Model: model, Messages: []sdk.Message{{Role: sdk.RoleUser, Text: "Say yes."}}}
}

// left gives a completion up before it begins: the plugin must go on.
func left(ctx context.Context, s Subject) error {
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := provider.NewClient(s.Conn).Complete(gone, question("x-no-such-model"), func(sdk.Delta) error { return nil }); err == nil {
		return errors.New("a completion whose reader has left went well")
	}
	return alive(ctx, s)
}
