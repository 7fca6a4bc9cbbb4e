package engine

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/daemon/internal/proposal"
	"github.com/bothyd/bothy/sdk"
)

// defaultExpiry is how long a proposal waits where the configuration says
// nothing.
const defaultExpiry = 24 * time.Hour

// decide asks policy about a call as it stands now. Somebody who answered is
// there, whoever else follows the run.
func (e *Engine) decide(a *activeLoop, x *action, answered bool) sdk.Decision {
	attended := answered || !x.plugged() && e.cfg.Attended != nil && a.loop.ID != 0 && e.cfg.Attended(a.run.ID, e.askers.session(a.asker))
	return e.request(a, x, a.mode, attended)
}

// request asks policy about a call in one mode.
func (e *Engine) request(a *activeLoop, x *action, mode sdk.Mode, attended bool) sdk.Decision {
	r := x.request()
	r.Mode, r.Attended, r.Otherwise, r.Writes, r.Offline, r.Without = mode, attended, a.agent.Otherwise(), a.run.Writes, a.run.Offline, a.agent.Without
	r.ReadOnly = a.loop.ReadOnly || a.run.Writes != nil && len(a.run.Writes) == 0
	if a.run.ID != 0 && !x.readOnly() { // what only reads tells nobody what to do
		r.Foreign, r.Outlives = e.foreign(a.run.ID), e.outlives(x)
	}
	e.goingOut(a, x, &r)
	return e.cfg.Policy.Decide(r)
}

// request is the call as policy knows it.
func (x *action) request() sdk.PolicyRequest {
	r := sdk.PolicyRequest{Tool: x.tool, Verb: x.verb(), Arguments: x.meant(), Project: x.project}
	if x.folder != "" {
		r.Project, r.Settled, r.Private = x.folder, x.project, true
	}
	return r
}

// sourceCaller is the source of a decision that whoever calls made.
const sourceCaller = "caller"

// rule takes over a decision: a denial is the action's end. A call that no loop makes
// is never proposed: where a person would be asked it runs if its caller has the role
// approve, unless a secret would leave with it, and is denied otherwise.
func (x *action) rule(a *activeLoop, d sdk.Decision) {
	switch {
	case d.Verdict != sdk.Propose:
	case x.plugged():
		d.Verdict = sdk.Deny
		d.Reason += "; a plugin's call waits for nobody, so that it is not made"
		d.Instead = "make the call yourself, where a person can be asked about it, or do without it"
	case a.loop.ID == 0 && a.approved && d.Rule == sdk.RuleLeak: // who calls may not know what is in there
		d.Verdict = sdk.Deny
		d.Reason += "; who calls a tool by hand is not asked, so that it is not made: have it done in a run, where that is a question, or leave the value out"
		d.Instead = "leave the key out"
	case a.loop.ID == 0 && a.approved:
		d.Verdict, d.Source = sdk.Allow, sourceCaller
	case a.loop.ID == 0:
		d.Verdict = sdk.Deny
		d.Reason += "; a call that no run makes waits for nobody: whoever calls needs the role approve"
		d.Instead = "make the call with the role approve"
	case a.run.NoProposals:
		d.Verdict = sdk.Deny
		d.Reason += "; the run proposes nothing (noProposals)"
		d.Instead = "do without it: in this run nobody is asked"
	}
	x.decide(d)
	if d.Verdict != sdk.Allow && d.Verdict != sdk.Propose {
		x.refuse(denied(d))
	}
}

// denied is a denial as an error. The model is told of which of the commands of a line
// it speaks.
func denied(d sdk.Decision) error {
	of := ""
	for _, c := range d.Commands {
		if len(d.Commands) > 1 && c.Rule == d.Rule && c.Reason != "" && strings.HasPrefix(d.Reason, c.Reason) {
			of = fmt.Sprintf(" (%s)", sdk.Excerpt(c.Text))
			break
		}
	}
	return sdk.Errorf(sdk.Permission, "%s", d.Reason).Tell(fmt.Sprintf("refused by rule %q%s: %s", d.Rule, of, cmp.Or(d.Instead, d.Reason)))
}

// acceptUnasked asks the filters of proposal.accepting about a call that a person
// would be asked about in interactive mode, where full mode says yes in the
// person's place, or whoever makes the call does.
func (e *Engine) acceptUnasked(ctx context.Context, a *activeLoop, x *action) {
	if x.ended() || x.decision().Verdict != sdk.Allow || !e.cfg.Hooks.ProposalAccepting.Active() {
		return
	}
	if x.decision().Source != sourceCaller && !(a.mode == sdk.ModeFull && e.request(a, x, sdk.ModeInteractive, true).Verdict == sdk.Propose) {
		return
	}
	if err := e.accepting(ctx, a, x); err != nil {
		x.refuse(err)
	}
}

// accepting asks the filters of proposal.accepting about a call as it would run.
// An error is their veto.
func (e *Engine) accepting(ctx context.Context, a *activeLoop, x *action) error {
	ruled, err := e.cfg.Hooks.ProposalAccepting.Apply(ctx, sdk.Resolution{Run: a.run.ID, Allow: true, Entry: x.told(sdk.Entry{
		Path: x.Path, State: sdk.StateProposed, Phase: sdk.PhaseRecorded, Attributes: encode(x.recorded()),
		Writer: sdk.WriterSystem, Loop: x.Loop, Turn: x.Turn,
	})})
	if err == nil && !ruled.Allow {
		err = refusal(ruled.By, ruled.Outcome, ruled.Body)
	}
	return err
}

// propose makes a proposal of the action that is next. One of a turn waits at a
// time: what stands behind it may depend on how it ends, as a second change of
// one file does, and an answer may leave a rule that spares the next question.
func (e *Engine) propose(ctx context.Context, a *activeLoop, x *action) error {
	if e.draining.Err() != nil {
		return errStopping
	}
	if !x.Asks { // policy has no say in a question
		x.rule(a, e.decide(a, x, false))
	}
	if !x.asks() {
		e.acceptUnasked(ctx, a, x) // the mode may be another by now
		return nil
	}
	e.cfg.Hooks.ProposalPrepare.Emit(ctx, sdk.EntryEvent{Run: a.run.ID, Entry: x.told(x.entry)})
	p, err := e.draft(ctx, a, x)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		x.refuse(sdk.Errorf(sdk.OutcomeOf(err), "nobody was asked about this call, for it could not be made: %w", err))
		return nil
	}
	change := sdk.Change{Run: a.run.ID, Writes: []sdk.Write{proposal.Ask(x.entry, p, x.Arguments, x.decision())}}
	if a.run.Status != sdk.StatusProposed {
		change.Status = sdk.StatusProposed
	}
	receipt, err := e.commit(ctx, ahead, change)
	if err != nil {
		return fmt.Errorf("record what is proposed: %w", err)
	}
	failpoint.Hit(failpoint.ProposedAfter)
	a.run.Status = sdk.StatusProposed
	x.Proposal = &p
	x.committed(receipt.Entries[0])
	e.cfg.Hooks.ProposalPending.Emit(ctx, sdk.EntryEvent{Run: a.run.ID, Entry: x.told(x.entry)})
	return nil
}

// draft is the proposal of a call, with what it would change in files when its
// tool can tell. A call that cannot be made, for its arguments or for what its
// tool says, is an error: nobody need be asked about it.
func (e *Engine) draft(ctx context.Context, a *activeLoop, x *action) (sdk.ActionProposal, error) {
	p, err := e.bind(a, x)
	if err != nil {
		return p, err
	}
	if x.own == nil {
		staged, err := settle(ctx, e, "asking what "+x.tool.Name+" would change", func() (sdk.Staged, error) {
			call := e.invocation(a.run, x)
			e.askEditor(ctx, a.run, x, &call)
			return e.cfg.Tools.Stage(ctx, call)
		})
		if err != nil && sdk.OutcomeOf(err) != sdk.Unavailable {
			return p, err
		}
		p.Diff, p.Base = staged.Diff, staged.Base
	}
	if err := proposal.Seal(&p, x.calling(a.run)); err != nil {
		return p, err
	}
	p.ID = p.Hash[:idLength]
	p.Created = e.cfg.Clock().UTC()
	p.Expires = p.Created.Add(e.expiry())
	return p, nil
}

func (e *Engine) expiry() time.Duration {
	if e.cfg.Expiry != nil {
		if d := e.cfg.Expiry(); d > 0 {
			return d
		}
	}
	return defaultExpiry
}
