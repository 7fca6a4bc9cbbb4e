package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/bothyd/bothy/daemon/internal/proposal"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// edit puts other arguments in the place of a proposal's. They are judged like a
// new call: what policy allows runs, what it proposes waits with another hash,
// and an edit that it denies changes nothing.
func (e *Engine) edit(ctx context.Context, q *question, arguments json.RawMessage) (rpc.Resolved, error) {
	if len(arguments) == 0 {
		return rpc.Resolved{}, sdk.Errorf(sdk.Validation, "an edit needs the arguments to take instead")
	}
	old, x := *q.x.Proposal, q.x
	x.Arguments = arguments
	if err := e.judgeEdit(ctx, q); err != nil {
		return rpc.Resolved{}, err
	}
	x.Proposal = nil // so that what it was bound to is not asked of the tool
	p, err := e.draft(ctx, q.a, x)
	if err != nil {
		return rpc.Resolved{}, fmt.Errorf("the edited call could not be made, and the proposal stays as it was: %w", err)
	}
	p.ID, p.Created, p.Expires = old.ID, old.Created, old.Expires
	x.Proposal = &old
	done, err := e.commitAnswer(ctx, q, proposal.Edit(x.entry, q.given, p, x.Arguments, *x.Decision))
	if err == nil && x.entry.State == sdk.StateProposed {
		e.cfg.Hooks.ProposalPending.Emit(ctx, sdk.EntryEvent{Run: q.a.run.ID, Entry: x.told(x.entry)})
	} else if err == nil {
		e.cfg.Hooks.ProposalAccepted.Emit(ctx, sdk.EntryEvent{Run: q.a.run.ID, Entry: x.told(x.entry)})
	}
	return done, err
}

// judgeEdit asks the recording filters and policy about the edited call. The
// filters may refuse it; what they would make of it is not taken over, for the
// person has not seen that.
func (e *Engine) judgeEdit(ctx context.Context, q *question) error {
	x, a := q.x, q.a
	var err error
	if x.Arguments, err = sdk.Canonical(x.Arguments); err != nil {
		return err
	}
	x.Changed = string(x.Arguments)
	if err := e.equipOne(ctx, a, x); err != nil {
		return err
	}
	if err := x.lacksCommand(); err != nil {
		return err
	}
	ruled, err := e.cfg.Hooks.EntryRecording.Apply(ctx, e.recording(a, x))
	if err != nil {
		return err
	}
	if ruled.State != sdk.StateStreaming {
		return sdk.Errorf(sdk.Permission, "the edit was refused, and the proposal stays as it was: %w", refusal(ruled.By, ruled.Outcome, ruled.Body))
	}
	d := e.decide(a, x, true)
	x.Decision, x.anew = &d, nil
	if d.Verdict != sdk.Allow && d.Verdict != sdk.Propose {
		return sdk.Errorf(sdk.Permission, "the edit was refused by rule %q, and the proposal stays as it was: %s", d.Rule, d.Reason)
	}
	if d.Verdict == sdk.Propose {
		return nil // what runs is asked about when it is accepted
	}
	if err := e.accepting(ctx, a, x); err != nil {
		return sdk.Errorf(sdk.OutcomeOf(err), "the edit was refused, and the proposal stays as it was: %w", err)
	}
	return nil
}
