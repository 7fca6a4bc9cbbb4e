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

// Provider checks an implementation of the kind provider: each request is
// answered by a stream that ends with a Finish, its calls can be put together,
// and a completion ends soon after its context.
func Provider(t *testing.T, impl provider.Provider, requests ...sdk.Request) {
	t.Helper()
	client := provider.NewClient(withGrease(t, Pair(t, func(s grpc.ServiceRegistrar) { provider.Register(s, impl) })))
	t.Run("models", func(t *testing.T) {
		models, err := client.Models(soon(t))
		if err != nil {
			t.Errorf("listing the models failed: %v", err)
		}
		if err := conformance.Models(models); err != nil {
			t.Error(err)
		}
	})
	for _, req := range requests {
		t.Run("complete "+req.Model, func(t *testing.T) {
			completes(t, client, req)
			stops(t, client, req)
		})
	}
}

// completes checks the order of one stream.
func completes(t *testing.T, client provider.Provider, req sdk.Request) {
	t.Helper()
	order := &conformance.Deltas{}
	if err := client.Complete(soon(t), req, order.Add); err != nil {
		t.Errorf("the completion failed: %v", err)
	} else if err := order.End(); err != nil {
		t.Error(err)
	}
}

// errEnough is what a reader that wants no more returns.
var errEnough = errors.New("enough")

// stops checks that a reader's error and an ended context end the completion.
func stops(t *testing.T, client provider.Provider, req sdk.Request) {
	t.Helper()
	err := client.Complete(soon(t), req, func(sdk.Delta) error { return errEnough })
	if !errors.Is(err, errEnough) {
		t.Errorf("the reader's error was lost: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	within(t, "a completion with an ended context", func() {
		if err := client.Complete(ctx, req, func(sdk.Delta) error { return nil }); err == nil {
			t.Error("a completion with an ended context went well")
		}
	})
}
