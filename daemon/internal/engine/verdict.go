package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/bothyd/bothy/daemon/internal/verdict"
	"github.com/bothyd/bothy/sdk"
)

// verdict rules whether the loop goes on: first by what the turn did, then by
// the filters of turn.verdict, of which the guards are some. A filter can end
// the loop and not keep it going; one that fails ends it.
func (e *Engine) verdict(ctx context.Context, a *activeLoop) (sdk.Ruling, error) {
	result := a.turnResult(a.ruling())
	result.Duration = sdk.Duration(time.Since(a.turn.began))
	e.cfg.Hooks.TurnCompleted.Emit(ctx, result)
	e.cfg.Hooks.RunState.Emit(ctx, a.turnEvent(map[string]any{"status": sdk.StatusRunning}))
	e.cfg.Hooks.RunStepCompleted.Emit(ctx, sdk.LoopEvent{Project: a.project.ID, Run: a.run.ForHook(), Loop: a.loop.ForHook(), Turns: a.turns})
	ruled, err := e.cfg.Hooks.TurnVerdict.Apply(ctx, result)
	if err != nil {
		return sdk.Ruling{}, err
	}
	if remark := e.guards.Remark(a.loop.ID); remark != "" {
		a.turn.note(sdk.KindNoteWarning, a.loop.ID, map[string]string{"message": remark})
	}
	r := ruled.Ruling
	if r.Continue {
		a.correct()
		return r, e.advance(ctx, a)
	}
	return verdict.Stopped(r)
}

// claim is the action as the ruling sees it.
func (x *action) claim() verdict.Call {
	c := verdict.Call{Action: x.Action, Name: cmp.Or(x.verb(), x.tool.Name, x.Tool), Update: x.updates(), Ends: x.ends}
	if c.Ends == 0 && (x.tool.Annotations.Terminal || x.finishes()) {
		c.Ends = sdk.StatusOK
	}
	return c
}

// updates reports whether the call is an update. It is the model's word on its turn, which no failure gives up: one
// that goes on is made, and one that would end the loop is judged when all else of the turn has ended.
func (x *action) updates() bool { return x.touchesEntries() && x.tool.Name == string(sdk.VerbUpdate) }

// claims are actions as the ruling sees them.
func claims(actions []*action) []verdict.Call {
	all := make([]verdict.Call, len(actions))
	for i, x := range actions {
		all[i] = x.claim()
	}
	return all
}

// mayEnd finds out with which status a verb on entries ends the loop, if it does.
func (x *action) mayEnd() {
	if x.touchesEntries() {
		x.ends = x.own.Ends(x.tool.Name, x.Arguments)
		x.tool.Annotations.Terminal = x.ends != 0
	}
}

// remark adds to what the dialect said of an answer what the model is told of it as a whole. Only tags have updates that
// an answer must end with.
func (a *activeLoop) remark() {
	t := a.turn
	if a.agent.Dialect != sdk.DialectTags || a.team != nil || !slices.ContainsFunc(a.ownTools(), func(t sdk.Tool) bool { return t.Entries && t.Name == string(sdk.VerbUpdate) }) {
		return
	}
	t.reading.Warnings = append(t.reading.Warnings, verdict.Remarks(verdict.Answer{
		Calls: claims(t.actions), Text: t.reading.Narration, Finish: t.completion.Finish, Warned: len(t.reading.Warnings) > 0, Owes: a.agent.Finish != nil,
		Before: a.mirror.Entries(), Loop: a.loop.ID,
	})...)
}
