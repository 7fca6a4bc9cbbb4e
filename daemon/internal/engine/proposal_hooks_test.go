package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestProposalHooks: who listens hears of a proposal in order.
// spec: resolution
func TestProposalHooks(t *testing.T) {
	h := newAsking(t, calls(numbered("write", 1), numbered("write", 2)))
	var mu sync.Mutex
	var heard []string
	hear := func(name string) func(context.Context, sdk.EntryEvent) error {
		return func(_ context.Context, e sdk.EntryEvent) error {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, name+" "+e.Entry.Path[len("log://turn_1/"):]+" "+string(e.Entry.State))
			return nil
		}
	}
	h.hooks.ProposalPrepare.On(1, "test", hear("prepare"))
	told := make(chan struct{}, 2)
	h.hooks.ProposalPending.On(1, "test", func(ctx context.Context, e sdk.EntryEvent) error {
		defer func() { told <- struct{}{} }()
		return hear("pending")(ctx, e)
	})
	h.hooks.ProposalAccepted.On(1, "test", hear("accepted"))
	h.hooks.ProposalRejected.On(1, "test", hear("rejected"))
	a := h.submit(Submission{})
	<-told // an answer may come before that, and is told at once
	h.answer(h.proposed(), sdk.Accept)
	<-told
	h.answer(h.proposed(), sdk.Reject)
	h.await(a)
	mu.Lock()
	defer mu.Unlock()
	all := strings.Join(heard, ", ")
	for _, want := range []string{"prepare write/f1 streaming, pending write/f1 proposed", "accepted write/f1 streaming", "pending write/f2 proposed", "rejected write/f2 failed"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in %q", want, all)
		}
	}
}

// TestVeto: a hook of proposal.accepting that says no, or fails, ends the action
// with its own outcome and words; the first veto holds, and the loop goes on.
// spec: resolution
func TestVeto(t *testing.T) {
	for name, c := range map[string]struct {
		veto func(context.Context, sdk.Resolution) (sdk.Resolution, error)
		want string
		body string
	}{
		"with words": {func(_ context.Context, r sdk.Resolution) (sdk.Resolution, error) {
			r.Allow, r.Outcome, r.Body = false, sdk.Conflict, "the branch is frozen"
			return r, nil
		}, "write:failed:conflict", "guard refused this call: the branch is frozen"},
		"without": {func(_ context.Context, r sdk.Resolution) (sdk.Resolution, error) {
			r.Allow = false
			return r, nil
		}, "write:failed:permission", "do it another way"},
		"by failing": {func(context.Context, sdk.Resolution) (sdk.Resolution, error) {
			return sdk.Resolution{}, errors.New("it broke")
		}, "write:failed:permission", "guard could not rule on proposal.accepting, and a guard that fails denies: it broke"},
		"by an error": {func(context.Context, sdk.Resolution) (sdk.Resolution, error) {
			return sdk.Resolution{}, sdk.Errorf(sdk.Permission, "no thanks")
		}, "write:failed:permission", "guard refused: no thanks"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newAsking(t, calls(numbered("write", 1)))
			h.hooks.ProposalAccepting.On(1, "guard", false, c.veto)
			h.hooks.ProposalAccepting.On(2, "lenient", false, func(_ context.Context, r sdk.Resolution) (sdk.Resolution, error) {
				r.Allow, r.Body = true, "never mind"
				return r, nil
			})
			a := h.submit(Submission{})
			p := h.proposed()
			done := h.resolve(rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Accept, Remember: sdk.RememberTool})
			if done.Proposal.State != sdk.StateFailed || done.Rule != nil {
				t.Errorf("%+v", done)
			}
			if l := h.await(a); l.Status != 200 || l.Stop != sdk.StopAnswer {
				t.Errorf("ended %d %s", l.Status, l.Stop)
			}
			e := h.actions(a.Run.ID)[0]
			if got := h.outcomes(a.Run.ID); got != c.want || !strings.Contains(e.Body, c.body) || h.ran() != "" {
				t.Errorf("%s: %s; ran %s", got, e.Body, h.ran())
			}
			if rules, err := h.engine.cfg.Rules.Rules(t.Context(), p.Project); len(rules) != 0 || err != nil {
				t.Errorf("%+v, %v", rules, err)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestVetoOfAnEdit: an edited call that policy allows begins without another
// question, so the filters of proposal.accepting are asked about it. Their veto
// leaves the proposal as it was.
func TestVetoOfAnEdit(t *testing.T) {
	h := newAsking(t, calls(numbered("write", 1)))
	h.hooks.ProposalAccepting.On(1, "guard", false, func(_ context.Context, r sdk.Resolution) (sdk.Resolution, error) {
		if r.Allow = !strings.Contains(string(r.Entry.Attributes), "frozen"); !r.Allow {
			r.Body = "the branch is frozen"
		}
		return r, nil
	})
	a := h.submit(Submission{})
	p := h.proposed()
	h.policy.set(func(sdk.PolicyRequest) sdk.Decision {
		return sdk.Decision{Verdict: sdk.Allow, Rule: "r", Reason: "r"}
	})
	_, err := h.engine.Resolve(t.Context(), rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Edit, Arguments: json.RawMessage(`{"path":"frozen"}`)})
	if sdk.OutcomeOf(err) != sdk.Permission || !strings.Contains(err.Error(), "the branch is frozen") {
		t.Errorf("a frozen edit: %v", err)
	}
	h.resolve(rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Edit, Arguments: json.RawMessage(`{"path":"free"}`)})
	h.await(a)
	if h.ran() != `write{"path":"free"}` {
		t.Error(h.ran())
	}
	h.check(a.Run.ID)
}

// TestStaged: what a call would change is shown, and the call carries the state
// that this was worked out against; one that could not be made is not asked about.
func TestStaged(t *testing.T) {
	h := prepareAsking(t, calls(numbered("write", 1), numbered("write", 2)), calls(numbered("write", 3)))
	for i := range h.tools.specs {
		h.tools.specs[i].Staged = h.tools.specs[i].Name == "write"
	}
	h.tools.stage = func(c sdk.Invocation) (sdk.Staged, error) {
		switch string(c.Arguments) {
		case `{"path":"f1"}`:
			return sdk.Staged{Diff: "--- f1\n+++ f1\n", Base: "b1"}, nil
		case `{"path":"f2"}`:
			return sdk.Staged{}, sdk.Errorf(sdk.Unavailable, "this one cannot be told")
		}
		return sdk.Staged{}, sdk.Errorf(sdk.Conflict, "f3 does not hold that text")
	}
	h.start()
	a := h.submit(Submission{})
	p := h.proposed()
	if p.Diff != "--- f1\n+++ f1\n" {
		t.Errorf("it shows %q", p.Diff)
	}
	h.cut()
	h.start()
	h.answer(p, sdk.Accept)
	if p = h.proposed(); p.Diff != "" {
		t.Errorf("it shows %q", p.Diff)
	}
	h.answer(p, sdk.Accept)
	h.await(a)
	h.tools.mu.Lock()
	made := h.tools.made
	h.tools.mu.Unlock()
	if len(made) != 2 || made[0].Base != "b1" || made[1].Base != "" {
		t.Errorf("made %+v", made)
	}
	if got := h.outcomes(a.Run.ID); got != "write:resolved write:resolved write:failed:conflict" {
		t.Error(got)
	}
	h.check(a.Run.ID)
}

// TestCommandsWithoutAShell: the words that policy proved go with the call.
func TestCommandsWithoutAShell(t *testing.T) {
	h := newAsking(t, calls(call{"bash", `{"command":"ls -l"}`}))
	h.policy.set(func(sdk.PolicyRequest) sdk.Decision {
		return sdk.Decision{Verdict: sdk.Propose, Rule: "r", Reason: "r", Argv: []string{"ls", "-l"}}
	})
	h.access.set(func(r *sdk.Reach) { r.Network = true })
	a := h.submit(Submission{})
	h.answer(h.proposed(), sdk.Accept)
	h.await(a)
	h.tools.mu.Lock()
	defer h.tools.mu.Unlock()
	if c := h.tools.made[0]; strings.Join(c.Argv, " ") != "ls -l" || !c.Network || !json.Valid(c.Arguments) {
		t.Errorf("%+v", c)
	}
}
