package server

import (
	"context"
	"errors"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestPull: progress comes ahead of the answer, an error is the answer, and who hangs
// up gives the pull up.
func TestPull(t *testing.T) {
	h := open(t, nil)
	c := h.client(t)
	var told []rpc.PullProgress
	hear := func(p rpc.PullProgress) { told = append(told, p) }
	got, err := c.Pull(t.Context(), rpc.Pull{Model: "qwen3"}, hear)
	if err != nil || got.Model != "ollama/qwen3" || len(told) != 1 || told[0].Total != 2<<20 {
		t.Errorf("%+v, %v; told %+v", got, err, told)
	}
	if _, err := c.Pull(t.Context(), rpc.Pull{Model: "nowhere"}, nil); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Error(err)
	}
	for _, name := range []string{"", "a\nb"} {
		if _, err := c.Pull(t.Context(), rpc.Pull{Model: name}, nil); err == nil {
			t.Errorf("%q was pulled", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := c.Pull(ctx, rpc.Pull{Model: "endless"}, func(rpc.PullProgress) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	if gaveUp := <-h.daemon.gaveUp; gaveUp != "endless" {
		t.Errorf("the daemon gave up %s", gaveUp)
	}
}
