package engine

import (
	"context"
	"fmt"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestFollowUpAtAnyDeath: a daemon may die at each of its writes, of which it hears or not. A command that is known
// to have ended asks once, and what a person agreed to is made once.
func TestFollowUpAtAnyDeath(t *testing.T) {
	for _, silent := range []bool{false, true} {
		for left := range 12 {
			t.Run(fmt.Sprintf("%d writes, silent %v", left, silent), func(t *testing.T) {
				h := prepareAsking(t, calls(call{"bash", `{"command":"x"}`}, numbered("write", 1)))
				h.following("apply")
				h.policy.set(runsCommands)
				m := newMortalStore(h.store.Store, left, silent)
				h.config.Store = m
				h.boot(t)
				a, err := h.engine.Submit(context.Background(), Submission{Project: h.project, Prompt: "p"})
				if err == nil {
					h.mortal(m, a)
				}
				h.cut()
				h.config.Store = h.store
				h.start()
				if err != nil {
					return // nobody was told of the prompt
				}
				h.acceptAll(a)
				made := map[string]int{}
				for _, tool := range h.tools.calledTools() {
					made[tool]++
				}
				ended := false
				asked := 0
				for _, e := range h.actions(a.Run.ID) {
					at, err := sdk.ActionOf(e)
					if err != nil {
						t.Fatal(err)
					}
					ended = ended || at.Tool == "bash" && e.State == sdk.StateResolved
					if at.Follows {
						asked++
					}
				}
				if want := map[bool]int{true: 1}[ended]; asked != want || made["apply"] > want || made["bash"] > 1 {
					t.Errorf("bash ended: %v, asked %d times, made %v: %s", ended, asked, made, h.outcomes(a.Run.ID))
				}
				h.check(a.Run.ID)
			})
		}
	}
}

// mortal accepts what is proposed until the store is dead or the loop has ended.
func (h *askingHouse) mortal(m *mortalStore, a Accepted) {
	for {
		changed := m.Changed()
		if l := h.loop(a); !l.Ended.IsZero() {
			return
		}
		h.acceptOne()
		select {
		case <-changed:
		case <-m.dead:
			return
		}
	}
}

// acceptAll accepts what is proposed until the loop has ended.
func (h *askingHouse) acceptAll(a Accepted) {
	h.until("the loop ends", func() bool {
		h.acceptOne()
		l := h.loop(a)
		return !l.Ended.IsZero()
	})
}

// acceptOne accepts what is proposed, when something is.
func (h *askingHouse) acceptOne() {
	open, err := h.engine.Proposals(context.Background())
	if err != nil || len(open) == 0 {
		return
	}
	_, _ = h.engine.Resolve(context.Background(), acceptance(open[0])) // it may be another by now, or the store dead
}
