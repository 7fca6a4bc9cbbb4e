package engine

import (
	"cmp"
	"context"
	"fmt"

	"github.com/bothyd/bothy/daemon/internal/compact"
	"github.com/bothyd/bothy/daemon/internal/sent"
	"github.com/bothyd/bothy/sdk"
)

// Compact queues a loop in which the run's model summarizes the run's conversation. It ends with the summary as an entry of
// the run, and what that stands for archived, in one commit; or all is as it was (decision 129). A run in which nothing
// was said is a conflict.
func (e *Engine) Compact(ctx context.Context, run int64) (Accepted, error) {
	leave, err := e.enter()
	if err != nil {
		return Accepted{}, err
	}
	defer leave()
	b, giveBack := e.book(run)
	defer giveBack()
	b.submit.Lock()
	defer b.submit.Unlock()
	loops, err := e.cfg.Store.Loops(ctx, run)
	if err != nil {
		return Accepted{}, err
	}
	var p placed
	if p.run, err = e.cfg.Store.Run(ctx, run); err != nil {
		return Accepted{}, err
	}
	if len(loops) == 0 && p.run.Turns == 0 || p.run.Hidden {
		return Accepted{}, sdk.Errorf(sdk.Conflict, "nothing was said in the run %s yet that could be summarized", p.run.Alias)
	}
	if p.project, err = e.cfg.Store.Project(ctx, p.run.Project); err != nil {
		return Accepted{}, err
	}
	if p.agent, err = e.AgentOf(agentsAt(p.project, p.run.Private), cmp.Or(p.run.Agent, defaultAgent)); err != nil {
		return Accepted{}, err
	}
	if p.choice, err = e.chosen(ctx, Submission{}, p, ""); err != nil {
		return Accepted{}, err
	}
	ahead, err := e.notBusy(ctx, p)
	if err != nil {
		return Accepted{}, err
	}
	l := sdk.Loop{Prompt: compact.Typed, Meaning: compact.Meaning()}
	if n := len(loops); n > 0 {
		l.ReadOnly = loops[n-1].ReadOnly // as whoever injects a prompt next has it
	}
	a, err := e.queue(ctx, p, l, loopOptions{Compacts: true, Mode: sdk.ModeRestricted})
	a.Ahead, a.Mode = ahead, "" // it makes no calls, so that no mode is told of it
	return a, err
}

// reading is what the turn's answer means: calls and warnings by the dialect of the agent, with the tools that its model was offered.
func (e *Engine) reading(a *activeLoop, offered []sdk.Tool) sdk.Reading {
	if a.given().Compacts { // which offers none, and shows calls of earlier turns
		return compact.Read(a.turn.completion, e.dialectOf(a).Read(a.turn.completion, compact.Callable(e.toolsOf(a.agent))).Calls)
	}
	return e.dialectOf(a).Read(a.turn.completion, offered)
}

// archive adds to the end of a loop that summarized its run what that writes.
func (e *Engine) archive(a *activeLoop, end *ending) error {
	if !a.given().Compacts || end.status != sdk.StatusOK || a.turn == nil {
		return nil
	}
	entries, err := a.mirror.Refresh(e.base)
	var since map[string]bool
	if err == nil {
		since, err = sent.Since(e.base, e.cfg.Store, a.run.ID)
	}
	if err != nil {
		return fmt.Errorf("look at what the summary stands for: %w", err)
	}
	end.writes = append(end.writes, compact.Writes(entries, since, a.loop, a.turn.row.Sequence, a.turn.completion.Text)...)
	return nil
}

// unarchived is the end of a loop whose summary could not be recorded: it is none.
func (end *ending) unarchived(a *activeLoop, err error) {
	if a.given().Compacts && end.status == sdk.StatusOK {
		end.status, end.stop, end.reason = sdk.StatusFailed, sdk.StopFailed, "there is no summary, and all is as it was: "+err.Error()
	}
}
