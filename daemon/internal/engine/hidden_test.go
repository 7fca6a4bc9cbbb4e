package engine

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// hiding takes one secret out of what is stored.
type hiding struct{}

const theSecret, hiddenMark = "canary-7f3a", "[secret]"

func (hiding) Redact(text string) string { return strings.ReplaceAll(text, theSecret, hiddenMark) }

// RedactAround knows of secrets between two places alone.
func (h hiding) RedactAround(text string, places []int) (clean string, moved []int) {
	at := 0
	for _, place := range places {
		clean += h.Redact(text[at:place])
		moved, at = append(moved, len(clean)), place
	}
	return clean + h.Redact(text[at:]), moved
}

func (h hiding) JSON(raw json.RawMessage) json.RawMessage {
	return json.RawMessage(h.Redact(string(raw)))
}

// staging are tools that show what a call would change.
type staging struct{ *fakeTools }

func (staging) Stage(_ context.Context, call sdk.Invocation) (sdk.Staged, error) {
	return sdk.Staged{Diff: "+" + string(call.Arguments), Base: "b1"}, nil
}

func prepareHiding(t *testing.T, steps ...step) *askingHouse {
	h := asksIn(prepareHouseOn(t, store.Options{Clock: time.Now, Redact: hiding{}}, steps...))
	h.tools.specs[2].Staged = true // write
	h.config.Tools, h.config.Redact, h.config.Hidden = staging{h.tools}, hiding{}.Redact, hiddenMark
	return h
}

const keeps = `{"key":"` + theSecret + `","path":"b"}`

// TestProposalWithASecret: it is shown without the secret, and what was agreed to
// runs with it. A daemon that began since knows no more than was stored: nothing
// runs.
func TestProposalWithASecret(t *testing.T) {
	for _, down := range []bool{false, true} {
		t.Run(map[bool]string{false: "same daemon", true: "after a restart"}[down], func(t *testing.T) {
			h := prepareHiding(t, calls(call{"write", keeps}))
			h.start()
			a := h.submit(Submission{})
			p := h.proposed()
			if shown := string(encode(p)); strings.Contains(shown, theSecret) || !strings.Contains(p.Diff, hiddenMark) || !strings.Contains(string(p.Arguments), hiddenMark) {
				t.Errorf("shown is %s", shown)
			}
			if down {
				h.cut()
				h.start()
			}
			h.answer(p, sdk.Accept)
			h.await(a)
			e := h.actions(a.Run.ID)[0]
			if !down && (h.ran() != "write"+keeps || e.State != sdk.StateResolved) {
				t.Errorf("ran %q, and it is %d: %s", h.ran(), e.Status(), e.Body)
			}
			if down && (h.ran() != "" || e.Outcome != sdk.Again || !strings.Contains(e.Body, "make the call again, with the secret in it")) {
				t.Errorf("ran %q, and it is %d: %s", h.ran(), e.Status(), e.Body)
			}
			if _, err := h.engine.Resolve(t.Context(), rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Accept}); sdk.OutcomeOf(err) != sdk.Conflict {
				t.Errorf("a second answer: %v", err)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestEditToASecret: the daemon that runs the call never had what was typed.
func TestEditToASecret(t *testing.T) {
	h := prepareHiding(t, calls(call{"write", `{"path":"b"}`}))
	h.start()
	a := h.submit(Submission{})
	p := h.proposed()
	edited := h.resolve(rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Edit, Arguments: json.RawMessage(keeps)}).Proposal
	h.answer(edited, sdk.Accept)
	h.await(a)
	if e := h.actions(a.Run.ID)[0]; h.ran() != "" || e.Outcome != sdk.Again {
		t.Errorf("ran %q, and it is %d: %s", h.ran(), e.Status(), e.Body)
	}
	h.check(a.Run.ID)
}

// TestSecretAcrossARestart: a call that was begun is not made again with the mark
// in the secret's place.
func TestSecretAcrossARestart(t *testing.T) {
	h := prepareHiding(t, calls(call{"put", keeps}))
	h.tools.add("put", sdk.Annotations{Idempotent: true}, true, sdk.GrantProject)
	h.policy.set(func(sdk.PolicyRequest) sdk.Decision {
		return sdk.Decision{Verdict: sdk.Allow, Rule: "all", Reason: "it is"}
	})
	begun := make(chan struct{}, 1)
	h.tools.on("put", waiting(begun))
	h.start()
	a := h.submit(Submission{})
	<-begun
	h.cut()
	h.tools.on("put", nil)
	h.start()
	h.await(a)
	if strings.Contains(h.ran(), hiddenMark) {
		t.Errorf("ran %s", h.ran())
	}
	h.check(a.Run.ID)
}
