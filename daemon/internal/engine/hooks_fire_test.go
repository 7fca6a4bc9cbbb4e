package engine

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestEveryHookFires: each name of the catalogue comes to who subscribes to it as a
// plugin does, or is refused as one that is not emitted.
func TestEveryHookFires(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := prepareAsking(t, calls(numbered("write", 1)), say("done"), calls(numbered("write", 2)),
		failing(&sdk.ProviderError{Class: sdk.ClassServer, Message: "boom"}), calls(numbered("bash", 1)), say("read"))
	var mu sync.Mutex
	var ahead time.Duration
	h.config.Clock = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return time.Now().Add(ahead)
	}
	h.tools.on("bash", waiting(begun))
	r := &recorder{}
	for _, p := range sdk.Hooks() {
		sub := sdk.Subscription{Name: p.Name}
		if !p.Planned {
			r.subs = append(r.subs, sub)
		} else if err := sub.Check(); err == nil {
			t.Errorf("%s is only planned, and may be subscribed to", p.Name)
		}
	}
	if _, err := h.hooks.Subscribe("recorder", r); err != nil {
		t.Fatal(err)
	}
	h.start()

	a := h.submit(Submission{Run: "r", Options: rpc.RunOptions{Persona: to("a pirate")}})
	h.answer(h.proposed(), sdk.Accept)
	h.await(a)
	a = h.submit(Submission{Run: "r"})
	h.answer(h.proposed(), sdk.Reject)
	h.await(a)
	h.run(Submission{Run: "r"}) // its model fails
	a = h.submit(Submission{Run: "r"})
	h.answer(h.proposed(), sdk.Accept)
	<-begun
	if err := h.engine.Abort(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	h.run(Submission{Run: "r", ReadOnly: true})
	h.untilIdle()
	if err := h.engine.Reset(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	ahead = 8 * day
	mu.Unlock()
	if err := h.engine.Expire(context.Background(), week); err != nil {
		t.Fatal(err)
	}
	if err := h.engine.Delete(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	for _, sub := range r.subs {
		if !slices.Contains(r.heard, sub.Name) {
			t.Errorf("%s never came", sub.Name)
		}
	}
	if len(r.knows) > 0 {
		t.Errorf("the persona of the run was told with %v", r.knows)
	}
}
