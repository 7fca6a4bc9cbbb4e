package engine

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/cassette"
)

// A cassette has those of the prompt's children, each in the step whose call began it (decision 68): while it is
// played no model is asked for any of them. The prompts of children are recorded as that of their caller is.

// tapeChildren puts what was recorded of a loop's children into its steps. A child whose model did not answer has
// nothing.
func (e *Engine) tapeChildren(ctx context.Context, run sdk.Run, l sdk.Loop, c cassette.Cassette) error {
	turns, err := e.turnsOf(ctx, run, l)
	if err != nil {
		return err
	}
	calls, err := e.cfg.Store.Entries(ctx, sdk.EntryQuery{Run: run.ID, Pattern: "log://turn_*/*" + sdk.ToolDelegate + "/*"})
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
		child, err := e.childTape(ctx, *at.Child)
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

// childTape is what was recorded of a child, which has ended.
func (e *Engine) childTape(ctx context.Context, child sdk.ActionChild) (*cassette.Cassette, error) {
	run, err := e.cfg.Store.Run(ctx, child.Run)
	if err != nil {
		return nil, err
	}
	l, err := e.loop(ctx, child)
	if err != nil {
		return nil, err
	}
	if err := e.endTape(ctx, run, l); err != nil {
		return nil, err
	}
	p, err := readPlayed(e.tape(run, l), false)
	if err != nil {
		return nil, err
	}
	return p.Cassette, nil
}

// tapeGiven makes the answer in which the engine gives out a team's tasks a step as one of a model is, recorded and
// compared: a loop has a step for each turn.
func (e *Engine) tapeGiven(ctx context.Context, a *activeLoop, c sdk.Completion) error {
	if !a.recorded && a.played == nil {
		return nil
	}
	a.playContext()
	p, err := e.assemble(ctx, a)
	if err != nil {
		return err
	}
	a.turn.prompt = sdk.Prompt{} // which nobody is sent
	if err := e.takeFresh(ctx, a, p.Messages); err != nil {
		return err
	}
	if a.played != nil {
		if _, differs := a.played.Next(a.turns-1, a.turn.fresh); differs != nil {
			return e.failedCompletion(a, sdk.Completion{}, differs)
		}
	}
	e.keepStep(a, c)
	return nil
}

// replayAt is where the cassette is of the child that a call of the loop begins: the steps and their calls that lead
// to it. It is nil where none is played.
func (a *activeLoop) replayAt(x *action) [][2]int {
	if a.played == nil {
		return nil
	}
	return append(slices.Clip(a.given().ReplayAt), [2]int{a.turns - 1, x.Index})
}

// childChoice is what stands for the model of a child. Where the cassette has nothing of it the child ends before
// that matters.
func (p *played) childChoice(step, call int) sdk.ModelChoice {
	c := cmp.Or(p.ChildOf(step, call), p.Cassette)
	return (&played{Cassette: c, file: p.file}).choice()
}

// playedOf reads the cassette of a loop. A child's is in that of the prompt above all, whose run has the file.
func (e *Engine) playedOf(ctx context.Context, run sdk.Run, o loopOptions) (p *played, err error) {
	for range o.ReplayAt {
		if run, err = e.cfg.Store.Run(ctx, run.Delegator); err != nil {
			return nil, err
		}
	}
	if p, err = readPlayed(filepath.Join(e.tapes(run), filepath.Base(o.Replay)), o.Strict); err != nil {
		return nil, err
	}
	for _, at := range o.ReplayAt {
		if p.Cassette = p.ChildOf(at[0], at[1]); p.Cassette == nil {
			return nil, mismatched(fmt.Sprintf("step %d, call %d gave work to another agent, and the cassette has nothing of what its model answered: record the prompt again", at[0]+1, at[1]+1))
		}
	}
	return p, nil
}

// childrenPlayed ends a loop that plays where what its last turn gave out was not worked on as on the cassette. The
// results of such calls alone do not say it: they need not be the same.
func (e *Engine) childrenPlayed(ctx context.Context, a *activeLoop) error {
	if a.played == nil || a.turns < 2 {
		return nil
	}
	last := 0
	for _, entry := range a.mirror.entries {
		if entry.Loop == a.loop.ID && entry.Turn < a.turn.row.Sequence {
			last = max(last, entry.Turn)
		}
	}
	for _, entry := range a.mirror.entries {
		if entry.Loop != a.loop.ID || entry.Turn != last || entry.Phase == sdk.PhaseNone {
			continue
		}
		at, err := sdk.ActionOf(entry)
		if err != nil || at.Parent != "" {
			continue
		}
		if at.Child == nil {
			if a.played.ChildOf(a.turns-2, at.Index) != nil {
				return mismatched(fmt.Sprintf("step %d, call %d gave work to another agent there, and did not here: %s", a.turns-1, at.Index+1, at.Body))
			}
			continue
		}
		child, err := e.loop(ctx, *at.Child)
		if err != nil {
			return err
		}
		if child.Stop == sdk.StopMismatch {
			return &loopError{ending: ending{status: sdk.StatusFailed, stop: sdk.StopMismatch, reason: fmt.Sprintf("run %s (%s): %s", at.Child.Alias, at.Child.Agent, child.Reason)}}
		}
	}
	return nil
}

// mismatched ends a loop that is not the one on its cassette, for a reason that is no difference of messages.
func mismatched(why string) error {
	return &loopError{ending: ending{status: sdk.StatusFailed, stop: sdk.StopMismatch, reason: "this is not the conversation on the cassette: " + why}}
}
