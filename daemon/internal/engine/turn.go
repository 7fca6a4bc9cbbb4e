package engine

import (
	"context"
	"slices"
	"time"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/daemon/internal/sent"
	"github.com/bothyd/bothy/sdk"
)

// turn is one round trip with the model, while it is open.
type turn struct {
	row        sdk.Turn
	began      time.Time    // here; a turn that was taken up counts anew
	of         sdk.Assembly // what the prompt was made of; its zero value where another daemon made it
	prompt     sdk.Prompt
	sent       *sent.Request // what the model gets, for who asks later
	fresh      []sdk.Message // of the prompt, as a cassette has it
	completion sdk.Completion
	reading    sdk.Reading
	actions    []*action
	children   children
	errors     []sdk.Entry // failures that belong to no action
	partials   int         // answers that were cut off by the end of a daemon
	streaming  bool        // assistant://N is there, and not whole
	notes      []sdk.Note  // wait for the next commit
	writes     []sdk.Write // likewise
	estimate   int         // of the prompt in tokens, when the provider reports no usage
	ratio      float64     // of sdk.Reply
}

// stage is how far a turn has come in the store. A turn that is taken up goes
// on with the step behind it.
type stage int

const (
	stageNone     stage = iota // there is no open turn
	stageOpen                  // the model has not answered, or not to the end
	stageAnswered              // the answer is recorded, its calls are not
	stageRecorded              // the calls are recorded
)

// turn takes one turn. Its steps are those of docs/architecture.md, and each
// commits before the next begins:
//
//	open      the turn, with the close of the one before and what that one brought too much of
//	record    the answer and all its calls; the first to run is already started
//	dispatch  per action: its end, with the start of the next
//
// Answer (assemble, fit, complete, read) and verdict write nothing of their
// own but pieces of a long answer; the verdict is recorded by what follows it:
// the next turn's opening, or finish. A turn that was taken up enters where it
// stands.
func (e *Engine) turn(ctx context.Context, a *activeLoop) (sdk.Ruling, error) {
	from := a.from
	a.from = stageNone
	switch from {
	case stageNone:
		if err := e.open(ctx, a); err != nil {
			return sdk.Ruling{}, err
		}
		fallthrough
	case stageOpen:
		if err := e.answer(ctx, a); err != nil {
			return sdk.Ruling{}, err
		}
		fallthrough
	case stageAnswered:
		if err := e.record(ctx, a); err != nil {
			return sdk.Ruling{}, err
		}
		fallthrough
	case stageRecorded:
		if from == stageRecorded && a.turn.unended() {
			e.awaitView(ctx, a)
		}
		if err := e.dispatch(ctx, a); err != nil {
			return sdk.Ruling{}, err
		}
	}
	failpoint.Hit(failpoint.VerdictBefore)
	return e.verdict(ctx, a)
}

// answer asks the model and reads what it said. Where the model cannot answer, those are
// asked that it gives way to, each with a prompt that fits it.
func (e *Engine) answer(ctx context.Context, a *activeLoop) error {
	if answered, err := e.teamAnswer(ctx, a); answered || err != nil {
		return err
	}
	completion, err := e.askOne(ctx, a)
	for err != nil && !came(completion) && e.fallBack(ctx, a, err) {
		completion, err = e.askOne(ctx, a)
	}
	if err != nil {
		return err
	}
	e.read(ctx, a, completion)
	return nil
}

// askOne asks the model that is chosen now.
func (e *Engine) askOne(ctx context.Context, a *activeLoop) (sdk.Completion, error) {
	e.gather(ctx, a)
	e.takeTools(ctx, a)
	a.offerTools()
	if len(a.chain) > 0 && !e.fitsTools(a, a.choice) {
		return sdk.Completion{}, errNoTools
	}
	if len(a.chain) > 0 && !e.fitsImages(ctx, a, &a.choice) {
		return sdk.Completion{}, errNoImages
	}
	a.playContext()
	prompt, err := e.assemble(ctx, a)
	if err != nil {
		return sdk.Completion{}, err
	}
	if err := e.takeFresh(ctx, a, prompt.Messages); err != nil {
		return sdk.Completion{}, err
	}
	if prompt, err = e.fit(ctx, a, prompt); err != nil {
		return sdk.Completion{}, err
	}
	if a.given().Caller == 0 { // a child has a container when it uses one
		e.prepareTools(ctx, a)
	}
	return e.complete(ctx, a, prompt)
}

// open commits the new turn as open, and the one before as closed.
func (e *Engine) open(ctx context.Context, a *activeLoop) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if e.draining.Err() != nil {
		return errStopping
	}
	b, giveBack := e.book(a.run.ID)
	defer giveBack()
	t := &turn{began: time.Now()}
	failpoint.Hit(failpoint.OpenBefore)
	var notes []sdk.Note
	if a.turn != nil {
		notes = a.turn.takeNotes()
	}
	down := e.settleSight(ctx, a)
	build := func(n int) (sdk.Change, error) {
		t.row = sdk.Turn{Run: a.run.ID, Loop: a.loop.ID, Sequence: n, Model: a.choice.Alias}
		c := sdk.Change{Run: a.run.ID, OpenTurn: &t.row, Notes: notes, Writes: slices.Concat(a.first, down)}
		if a.turn != nil {
			c.CloseTurn = a.turn.closing()
		}
		return c, nil
	}
	receipt, err := e.openTurn(ctx, b, a.run.ID, ahead, build)
	if stale(err) && down != nil { // somebody removed what would be demoted
		down = nil
		receipt, err = e.openTurn(ctx, b, a.run.ID, ahead, build)
	}
	if err != nil {
		return err
	}
	e.tellOverflow(ctx, a, receipt.Entries[len(a.first):])
	failpoint.Hit(failpoint.OpenAfter)
	a.turn, a.first = t, nil
	a.turns++
	a.run.Turns = t.row.Sequence
	e.warnOfSkills(a)
	e.cfg.Hooks.TurnStarted.Emit(ctx, a.turnEvent(map[string]any{"mode": sdk.AskOrAct(a.loop.ReadOnly), "prompt": a.loop.Prompt, "continuation": a.turns > 1, "loop_turn": a.turns}))
	return nil
}

// closing is the turn as it is closed.
func (t *turn) closing() *sdk.Turn {
	row := t.row
	row.Duration = time.Since(t.began)
	row.Usage, row.Finish = t.completion.Usage, t.completion.Finish
	return &row
}

func (t *turn) note(kind string, loop int64, data any) {
	t.notes = append(t.notes, sdk.Note{Kind: kind, Loop: loop, Turn: t.row.Sequence, Data: data})
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
	a.turn.completion = e.dialectOf(a).Whole(c)
	a.turn.reading = e.reading(a, a.offered)
	e.cfg.Hooks.TurnResponse.Emit(ctx, a.turnResult(sdk.Ruling{}))
}

func (a *activeLoop) turnResult(ruling sdk.Ruling) sdk.TurnResult {
	r := sdk.TurnResult{Run: a.run.ForHook(), Loop: a.loop.ForHook(), Turn: a.turn.row.Sequence, LoopTurn: a.turns, Completion: a.turn.completion, Errors: a.turn.errors, Ruling: ruling}
	for _, x := range inOrder(a.turn.actions, a.turn.children.actions, (*action).place) {
		r.Actions = append(r.Actions, x.entry)
	}
	return r
}
