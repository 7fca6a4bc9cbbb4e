package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/daemon/internal/verdict"
	"github.com/bothyd/bothy/sdk"
)

// Calls that only touch entries are planned, and made by the commit that records their ends: a
// crash leaves both or none (decision 88).

// mostPlans is how often such calls are planned, when what they are about changes meanwhile.
const mostPlans = 5

// plan concludes started calls of verbs, in their order.
func (e *Engine) plan(ctx context.Context, a *activeLoop, verbs []*action) {
	if len(verbs) == 0 {
		return
	}
	began := time.Now()
	calls := make([]sdk.Invocation, len(verbs))
	for i, x := range verbs {
		calls[i] = e.invocation(a.run, x)
	}
	results, err := settle(ctx, e, "planning verbs on entries", func() ([]sdk.ToolResult, error) {
		return verbs[0].own.Plan(ctx, calls), nil
	})
	failpoint.Hit(failpoint.VerbPlanned)
	var broken *action
	for i, x := range verbs {
		switch {
		case broken != nil && !x.updates():
			x.refuse(verdict.GivenUp(broken.Tool, broken.failure()))
			continue
		case err != nil: // nothing was written
			x.conclude(concluded, sdk.Failed(err), time.Since(began))
		default:
			x.conclude(concluded, results[i], time.Since(began))
		}
		if x.breaks() {
			broken = x
		}
	}
}

// bring makes of the entries that a plugin's call brings some of this action's turn.
func (e *Engine) bring(a *activeLoop, x *action, r sdk.ToolResult) sdk.ToolResult {
	if err := e.pluginsOwn(&serving{a: a, x: x}, sdk.Caller{Instance: x.tool.Plugin}, r.Writes); err != nil {
		return sdk.Failed(err)
	}
	for n := range r.Writes {
		r.Writes[n].Turn, r.Writes[n].Loop = x.Turn, x.Loop
	}
	return r
}

// brings reports whether the commit of its end writes entries that the plugin's call brought.
func (x *action) brings() bool {
	return x.own == nil && x.stands == nil && len(x.result.Writes) > 0 && x.cause == concluded && !x.closed()
}

// lose makes a failure of a call whose entries cannot be written.
func (x *action) lose(err error) {
	x.reopen()
	x.conclude(concluded, sdk.Failed(fmt.Errorf("what the call brought cannot be kept: %w", err)), x.took)
}

// entryWrites are what the verbs among ended actions come to, what calls bring, and the mark of their run.
func entryWrites(over []*action) (writes []sdk.Write) {
	for _, x := range over {
		writes = append(writes, x.result.Writes...)
		if x.marks != nil {
			writes = append(writes, *x.marks)
		}
	}
	return writes
}

// commitEnds is commit of a change with the ends of some actions, and what becomes of entries with them. Where what the verbs
// among them planned does not fit any more, they are planned again.
func (e *Engine) commitEnds(ctx context.Context, u urgency, a *activeLoop, over []*action, change func() sdk.Change) (sdk.Receipt, error) {
	for n := 1; ; n++ {
		e.mark(a, over)
		e.leaveMoved(ctx, over)
		receipt, err := e.commit(ctx, u, change())
		verbs, moved, brought := which(over, (*action).planned), which(over, (*action).moved), which(over, (*action).brings)
		if err == nil || passing(err) || len(entryWrites(verbs))+len(entryWrites(moved))+len(brought) == 0 {
			return receipt, err
		}
		if len(brought) > 0 && !stale(err) { // which what they bring never is
			for _, x := range brought {
				x.lose(err)
			}
			continue
		}
		again := n < mostPlans && stale(err)
		for _, x := range verbs {
			x.reopen()
		}
		for _, x := range moved {
			if x.result.Writes = nil; !again {
				x.stay(err)
			}
		}
		if again {
			e.plan(ctx, a, verbs)
			continue
		}
		for _, x := range verbs {
			x.conclude(concluded, sdk.Failed(err), 0)
		}
	}
}

// Verbs says what uses of the verbs on entries come to (package builtin). There is a plan
// for each call.
type Verbs interface {
	Plan(ctx context.Context, use sdk.EntryUse, calls []sdk.EntryCall) []sdk.EntryPlan
	// Fits says why entries do not hold what a plugin writes without a verb.
	Fits(ctx context.Context, run sdk.Run, writes []sdk.Write) error
	// ChangesFile reports whether a call stands for one of the files plugin (sdk.TurnTools.File).
	ChangesFile(c sdk.EntryCall) bool
}

// UseEntries uses verbs on entries of a run for a client, that are within its reach, in one commit or none. The first call
// that fails is the error. One that changes a file is made alone: it is a call of a tool.
func (e *Engine) UseEntries(ctx context.Context, approved bool, within func(path string) bool, run sdk.Run, calls []sdk.EntryCall) ([]sdk.EntryDone, error) {
	if e.cfg.Verbs != nil && slices.ContainsFunc(calls, e.cfg.Verbs.ChangesFile) {
		if len(calls) > 1 {
			return nil, sdk.Errorf(sdk.Validation, "what changes a file is a call of its own, and these are %d", len(calls))
		}
		done, err := e.useFile(ctx, approved, run, calls[0])
		return []sdk.EntryDone{done}, err
	}
	leave, err := e.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	return e.do(ctx, sdk.EntryUse{Run: run, Writer: sdk.WriterClient, Turn: run.Turns, Within: within}, calls, func(*sdk.EntryPlan) error { return nil })
}

// do plans calls and commits what they come to. may refuses a plan, or changes what it writes.
func (e *Engine) do(ctx context.Context, use sdk.EntryUse, calls []sdk.EntryCall, may func(*sdk.EntryPlan) error) ([]sdk.EntryDone, error) {
	if e.cfg.Verbs == nil {
		return nil, sdk.Errorf(sdk.Unavailable, "this daemon has no verbs on entries")
	}
	for n := 1; ; n++ {
		done, change, err := e.planned(ctx, use, calls, may)
		if err != nil || len(change.Writes) == 0 {
			return done, err
		}
		failpoint.Hit(failpoint.VerbPlanned)
		receipt, err := e.Commit(ctx, change)
		if err == nil {
			failpoint.Hit(failpoint.VerbWritten)
		}
		switch {
		case err == nil:
			asCommitted(done, receipt)
			return done, nil
		case n == mostPlans || !stale(err):
			return nil, err
		}
	}
}

// planned is what calls come to together.
func (e *Engine) planned(ctx context.Context, use sdk.EntryUse, calls []sdk.EntryCall, may func(*sdk.EntryPlan) error) ([]sdk.EntryDone, sdk.Change, error) {
	change := sdk.Change{Run: use.Run.ID}
	done := make([]sdk.EntryDone, len(calls))
	plans, err := settle(ctx, e, "planning verbs on entries", func() ([]sdk.EntryPlan, error) {
		return e.cfg.Verbs.Plan(ctx, use, calls), nil
	})
	if err != nil {
		return nil, change, err
	}
	for i, p := range plans {
		err := p.Err
		if err == nil {
			err = may(&p)
		}
		switch {
		case err != nil && len(calls) > 1:
			return nil, change, fmt.Errorf("call %d of %d, %s: %w", i+1, len(calls), calls[i].Verb, err)
		case err != nil:
			return nil, change, err
		}
		done[i], change.Writes = p.Done, append(change.Writes, p.Writes...)
	}
	return done, change, nil
}

// asCommitted puts entries as a commit left them in the place of those as they were planned. What was
// removed is not among those that a commit has left.
func asCommitted(done []sdk.EntryDone, receipt sdk.Receipt) {
	last := map[string]sdk.Entry{}
	for _, e := range receipt.Entries {
		last[e.Path] = e
	}
	for i := range done {
		for k, e := range done[i].Entries {
			if now, written := last[e.Path]; written && e.Visibility == now.Visibility {
				body := e.Body
				done[i].Entries[k] = now
				done[i].Entries[k].Body = body
			}
		}
	}
}

// stale reports whether a commit failed because of what was written since it was planned.
func stale(err error) bool {
	return slices.Contains([]sdk.Outcome{sdk.Conflict, sdk.NotFound}, sdk.OutcomeOf(err))
}
