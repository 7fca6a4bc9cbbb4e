package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestConfigure: a loop that runs keeps its agent, the next one has the new.
func TestConfigure(t *testing.T) {
	var h *house
	other := func(ctx context.Context, req sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
		h.agents = map[string]sdk.Agent{"default": {Guards: sdk.Guards{MaxTurns: 1}}}
		return calls(call{"read", `{"path":"a"}`})(ctx, req, send, retry)
	}
	h = prepareHouse(t, other, calls(call{"read", `{"path":"b"}`}), say("three turns"), calls(call{"read", `{"path":"c"}`}))
	h.start()
	if l := h.await(h.submit(Submission{})); l.Stop != sdk.StopAnswer {
		t.Errorf("the loop that ran ended with %s: %s", l.Stop, l.Reason)
	}
	if l := h.await(h.submit(Submission{})); l.Stop != "max_turns" {
		t.Errorf("the next one ended with %s: %s", l.Stop, l.Reason)
	}
	_, err := h.engine.Submit(context.Background(), Submission{Project: h.project, Prompt: "x", Agent: "chat"})
	if sdk.OutcomeOf(err) != sdk.NotFound || !strings.Contains(err.Error(), "there are: default") {
		t.Errorf("an agent that is gone: %v", err)
	}
}
