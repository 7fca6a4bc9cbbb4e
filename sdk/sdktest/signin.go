package sdktest

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/conformance"
	"github.com/bothyd/bothy/sdk/provider"
)

// SignIn signs a person in to a provider that is a provider.Authenticator, and holds its
// steps to the contract. person is given each step and does what it says, against a server
// that stands for the real one; it must return at once. Two sign-ins are left before the one that is answered; they end,
// but may still wait for the same answer when person gives it. It returns what the caller
// would keep.
func SignIn(t *testing.T, impl provider.Provider, person func(sdk.AuthStep)) sdk.AuthDone {
	t.Helper()
	if _, ok := impl.(provider.Authenticator); !ok {
		t.Fatal("the provider is no provider.Authenticator")
	}
	client := provider.NewClient(withGrease(t, Pair(t, func(s grpc.ServiceRegistrar) { provider.Register(s, impl) })))
	within(t, "a sign-in whose reader returns an error", func() {
		if err := client.Authenticate(soon(t), func(sdk.AuthStep) error { return errEnough }); !errors.Is(err, errEnough) {
			t.Errorf("the reader's error was lost: %v", err)
		}
	})
	within(t, "a sign-in that is left while the person is waited for", func() {
		ctx, cancel := context.WithCancel(soon(t))
		defer cancel()
		err := client.Authenticate(ctx, func(step sdk.AuthStep) error {
			if step.Wait != nil {
				cancel()
			}
			return nil
		})
		if err == nil {
			t.Error("a sign-in that nobody answered went well")
		}
	})
	steps := &conformance.AuthSteps{}
	err := client.Authenticate(soon(t), func(step sdk.AuthStep) error {
		person(step)
		return steps.Add(step)
	})
	if err != nil {
		t.Fatalf("the sign-in failed: %v", err)
	}
	if err := steps.End(); err != nil {
		t.Fatal(err)
	}
	return *steps.Done
}
