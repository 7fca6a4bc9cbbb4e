package engine

import (
	"context"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// turn is one round trip with the model, while it is open.
type turn struct {
	row        sdk.Turn
	began      time.Time
	prompt     sdk.Prompt
	completion sdk.Completion
	reading    sdk.Reading
	actions    []*action
	errors     []sdk.Entry // failures that belong to no action
	notes      []sdk.Note  // wait for the next commit
	writes     []sdk.Write // likewise
}

// turn takes one turn. Its steps are the design's words, and each commits
// before the next begins:
//
//	open      the turn, with the close of the one before
//	record    the answer and all its calls; the first to run is already started
//	dispatch  per action: its end, with the start of the next
//
// Assemble, fit, complete, read and verdict write nothing of their own; the
// verdict is recorded by what follows it: the next turn's opening, or finish.
func (e *Engine) turn(ctx context.Context, a *activeLoop) (sdk.Ruling, error) {
	if err := e.open(ctx, a); err != nil {
		return sdk.Ruling{}, err
	}
	prompt, err := e.assemble(ctx, a)
	if err != nil {
		return sdk.Ruling{}, err
	}
	if prompt, err = e.fit(ctx, a, prompt); err != nil {
		return sdk.Ruling{}, err
	}
	completion, err := e.complete(ctx, a, prompt)
	if err != nil {
		return sdk.Ruling{}, err
	}
	e.read(ctx, a, completion)
	if err := e.record(ctx, a); err != nil {
		return sdk.Ruling{}, err
	}
	if err := e.dispatch(ctx, a); err != nil {
		return sdk.Ruling{}, err
	}
	return e.verdict(ctx, a)
}

// open commits the new turn as open, and the one before as closed.
func (e *Engine) open(ctx context.Context, a *activeLoop) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if e.draining.Err() != nil {
		return errStopping
	}
	b := e.book(a.run.ID)
	t := &turn{began: e.cfg.Clock()}
	var notes []sdk.Note
	if a.turn != nil {
		notes = a.turn.takeNotes()
	}
	_, err := e.openTurn(ctx, b, a.run.ID, func(n int) (sdk.Change, error) {
		t.row = sdk.Turn{Run: a.run.ID, Loop: a.loop.ID, Sequence: n, Model: a.choice.Alias}
		c := sdk.Change{Run: a.run.ID, OpenTurn: &t.row, Notes: notes}
		if a.turn != nil {
			c.CloseTurn = a.turn.closing(e.cfg.Clock())
		}
		return c, nil
	})
	if err != nil {
		return err
	}
	a.turn = t
	a.turns++
	a.run.Turns = t.row.Sequence
	e.cfg.Hooks.TurnStarted.Emit(ctx, a.turnEvent(map[string]any{"mode": a.loop.Mode, "prompt": a.loop.Prompt, "continuation": a.turns > 1, "loop_turn": a.turns}))
	return nil
}

// closing is the turn as it is closed.
func (t *turn) closing(now time.Time) *sdk.Turn {
	row := t.row
	row.Duration = max(now.Sub(t.began), 0)
	row.Usage, row.Finish = t.completion.Usage, t.completion.Finish
	return &row
}

func (t *turn) note(kind string, loop int64, data any) {
	t.notes = append(t.notes, sdk.Note{Kind: sdk.KindNote + "." + kind, Loop: loop, Turn: t.row.Sequence, Data: data})
}

func (t *turn) takeNotes() []sdk.Note {
	notes := t.notes
	t.notes = nil
	return notes
}

func (t *turn) takeWrites() []sdk.Write {
	writes := t.writes
	t.writes = nil
	return writes
}

// read takes the answer apart. Nothing a model writes makes it fail.
func (e *Engine) read(ctx context.Context, a *activeLoop, c sdk.Completion) {
	a.turn.completion = c
	a.turn.reading = e.cfg.Dialect.Read(c, a.offered)
	e.cfg.Hooks.TurnResponse.Emit(ctx, a.turnResult(sdk.Ruling{}))
}

func (a *activeLoop) turnResult(ruling sdk.Ruling) sdk.TurnResult {
	r := sdk.TurnResult{Run: a.run, Loop: a.loop, Turn: a.turn.row.Sequence, LoopTurn: a.turns, Completion: a.turn.completion, Errors: a.turn.errors, Ruling: ruling}
	for _, x := range a.turn.actions {
		r.Actions = append(r.Actions, x.entry)
	}
	return r
}
