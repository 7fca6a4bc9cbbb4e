package tape

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/bothyd/bothy/daemon/internal/agent/delegate"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/cassette"
)

// A cassette has those of the prompt's children, each in the step whose call began it (decision 68): while it is
// played no model is asked for any of them. The prompts of children are recorded as that of their caller is.

// children puts what was recorded of a loop's children into its steps. A child whose model did not answer has
// nothing.
func (t Tapes) children(ctx context.Context, run sdk.Run, l sdk.Loop, turns []sdk.Turn, c cassette.Cassette) error {
	calls, err := t.Store.Entries(ctx, sdk.EntryQuery{Run: run.ID, Pattern: "log://turn_*/*" + sdk.ToolDelegate + "/*"})
	if err != nil {
		return err
	}
	for _, entry := range calls {
		at, err := sdk.ActionOf(entry)
		if err != nil || at.Child == nil || at.Loop != l.ID {
			continue
		}
		n := slices.IndexFunc(turns, func(t sdk.Turn) bool { return t.Sequence == at.Turn })
		if n < 0 || n >= len(c.Steps) {
			return fmt.Errorf("the answer that began the run %s could not be recorded", at.Child.Alias)
		}
		child, err := t.child(ctx, *at.Child)
		if sdk.OutcomeOf(err) == sdk.NotFound && err != nil {
			continue
		}
		if err != nil {
			return err
		}
		c.Steps[n].Children = append(c.Steps[n].Children, cassette.Child{Call: at.Index, Cassette: child})
	}
	for _, s := range c.Steps {
		slices.SortFunc(s.Children, func(a, b cassette.Child) int { return cmp.Compare(a.Call, b.Call) })
	}
	return nil
}

// child is what was recorded of a child, which has ended.
func (t Tapes) child(ctx context.Context, child sdk.ActionChild) (*cassette.Cassette, error) {
	run, err := t.Store.Run(ctx, child.Run)
	if err != nil {
		return nil, err
	}
	l, err := delegate.Prompt(ctx, t.Store, child)
	if err != nil {
		return nil, err
	}
	if err := t.End(ctx, run, l); err != nil {
		return nil, err
	}
	p, err := read(t.Path(run, l), false)
	if err != nil {
		return nil, err
	}
	return p.Cassette, nil
}

// ChildChoice is what stands for the model of a child, which a call of a step begins. Where the cassette has nothing of
// it the child ends before that matters.
func (p *Played) ChildChoice(step, call int) sdk.ModelChoice {
	return p.choiceOf(cmp.Or(p.ChildOf(step, call), p.Cassette))
}

// Played reads the cassette of a loop of a run, by the name that Keep gave it. A child's is in that of the prompt above
// all, whose run has the file: at are the steps and their calls that lead to it.
func (t Tapes) Played(ctx context.Context, run sdk.Run, name string, strict bool, at [][2]int) (p *Played, err error) {
	for range at {
		if run, err = t.Store.Run(ctx, run.Delegator); err != nil {
			return nil, err
		}
	}
	if p, err = read(filepath.Join(t.folder(run), filepath.Base(name)), strict); err != nil {
		return nil, err
	}
	p.raw = nil
	for _, at := range at {
		if p.Cassette = p.ChildOf(at[0], at[1]); p.Cassette == nil {
			return nil, mismatch(fmt.Sprintf("step %d, call %d gave work to another agent, and the cassette has nothing of what its model answered: record the prompt again", at[0]+1, at[1]+1))
		}
	}
	return p, nil
}

// Children ends a loop where what a turn gave out was not worked on as on the cassette. The results of such calls alone
// do not say it: they need not be the same. Entries are those of the run, before is the number of the turn that begins,
// and step that of the cassette which the turn before it played.
func (p *Played) Children(ctx context.Context, s delegate.Store, entries []sdk.Entry, loop int64, before, step int) error {
	last := 0
	for _, entry := range entries {
		if entry.Loop == loop && entry.Turn < before {
			last = max(last, entry.Turn)
		}
	}
	for _, entry := range entries {
		if entry.Loop != loop || entry.Turn != last || entry.Phase == sdk.PhaseNone {
			continue
		}
		at, err := sdk.ActionOf(entry)
		if err != nil || at.Parent != "" {
			continue
		}
		if at.Child == nil {
			if p.ChildOf(step, at.Index) != nil {
				return mismatch(fmt.Sprintf("step %d, call %d gave work to another agent there, and did not here: %s", step+1, at.Index+1, at.Body))
			}
			continue
		}
		child, err := delegate.Prompt(ctx, s, *at.Child)
		if err != nil {
			return err
		}
		if child.Stop == sdk.StopMismatch {
			return &Mismatch{fmt.Sprintf("run %s (%s): %s", at.Child.Alias, at.Child.Agent, child.Reason)}
		}
	}
	return nil
}
