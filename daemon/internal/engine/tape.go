package engine

import (
	"context"
	"slices"

	"github.com/bothyd/bothy/daemon/internal/stream"
	"github.com/bothyd/bothy/daemon/internal/tape"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/cassette"
	"github.com/bothyd/bothy/sdk/rpc"
)

// tapes are the recordings of prompts.
func (e *Engine) tapes() tape.Tapes { return tape.Tapes{Store: e.cfg.Store, Dir: e.runDir} }

// keepStep adds the answer to the recording of the loop, if there is one. What the disk
// does not take makes the recording none; the work goes on.
func (e *Engine) keepStep(a *activeLoop, c sdk.Completion) {
	if !a.recorded {
		return
	}
	exact := func(name string) bool {
		tool, _, err := e.find(a, name)
		looks := tool.Annotations
		return err == nil && looks.ReadOnly && !looks.Live && !looks.OpenWorld && tool.Name != sdk.ToolDelegate // a child has a cassette of its own
	}
	step := cassette.NewStep(a.turn.fresh, tape.Clean(c, e.cfg.RedactText), exact)
	tape.Loosen(&step, a.turn.fresh, func() []string {
		return tape.Must(a.mirror.Entries(), a.loop, a.turn.row.Sequence, a.turns == 1, exact)
	})
	line := tape.Line{Turn: a.turns, Model: a.choice.Alias, Context: a.choice.Context, Step: step}
	if a.played != nil {
		line.Model = a.played.Model
	}
	if err := e.tapes().Add(a.run, a.loop, line); err != nil {
		e.log.Error("an answer could not be recorded; the prompt has no cassette", "run", a.run.Alias, "loop", a.loop.Sequence, "turn", a.turns, "error", err)
	}
}

// takeFresh keeps what is new in the conversation, without secrets, for a loop that is
// recorded or plays. It is taken before anything is left out of the prompt: what fits is a
// matter of the model. One that plays ends where a child had another conversation.
func (e *Engine) takeFresh(ctx context.Context, a *activeLoop, messages []sdk.Message) error {
	if !a.recorded && a.played == nil {
		return nil
	}
	a.turn.fresh = tape.Fresh(messages, a.turns == 1, a.agent.View == sdk.ViewPacket, e.cfg.RedactText)
	if a.played == nil || a.turns < 2 {
		return nil
	}
	return a.played.Children(ctx, e.cfg.Store, a.mirror.Entries(), a.loop.ID, a.turn.row.Sequence, a.turns-2)
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

// choose finds the model of a loop, or what is played in its place.
func (e *Engine) choose(ctx context.Context, a *activeLoop) (err error) {
	o := a.given()
	a.recorded = o.Record
	if o.Replay == "" {
		a.choice, err = e.cfg.Models.Resolve(ctx, a.loop.Model)
		a.choice.Context = a.run.Limit(a.choice.Context)
		return err
	}
	if a.played, err = e.tapes().Played(ctx, a.run, o.Replay, o.Strict, o.ReplayAt); err == nil {
		a.choice = a.played.Choice()
	}
	return err
}

// playContext takes the window of the model that the next answer came from.
func (a *activeLoop) playContext() {
	if a.played != nil {
		a.choice.Context = a.played.ContextAt(a.turns - 1)
	}
}

// replayAt is where the cassette is of the child that a call of the loop begins: the steps and their calls that lead
// to it. It is nil where none is played.
func (a *activeLoop) replayAt(x *action) [][2]int {
	if a.played == nil {
		return nil
	}
	return append(slices.Clip(a.given().ReplayAt), [2]int{a.turns - 1, x.Index})
}

// completion sends a request to the loop's model, or plays its answer.
func (e *Engine) completion(ctx context.Context, a *activeLoop, req sdk.Request, r *stream.Reader) error {
	if a.played == nil {
		turn := a.turn.row.Sequence
		return e.cfg.Models.Complete(ctx, a.choice.Alias, req, r.Take, func(retry sdk.Retry) error {
			return e.retrying(ctx, a, turn, r, retry)
		})
	}
	step, differs := a.played.Next(a.turns-1, a.turn.fresh)
	if differs != nil {
		return differs
	}
	return step.Play(ctx, r.Take)
}

// endPlayed is the end of a loop that plays a cassette: one that ends well with steps
// left is another conversation.
func (a *activeLoop) endPlayed(end ending) ending {
	if a.played == nil || end.status != sdk.StatusOK && end.status != sdk.StatusNoContent {
		return end
	}
	if other := a.played.Rest(a.turns, end.reason); other != nil {
		end.status, end.stop, end.reason = sdk.StatusFailed, sdk.StopMismatch, other.Error()
	}
	return end
}

// Cassette is a piece of what was recorded of a prompt, from an offset on. It is whole
// when the pieces reach Size.
func (e *Engine) Cassette(ctx context.Context, run int64, prompt int, offset int64) (rpc.CassettePiece, error) {
	r, err := e.cfg.Store.Run(ctx, run)
	if err != nil {
		return rpc.CassettePiece{}, err
	}
	l, _, err := e.promptOf(ctx, r, prompt)
	switch {
	case err != nil:
		return rpc.CassettePiece{}, err
	case !optionsOf(l).Record:
		return rpc.CassettePiece{}, sdk.Errorf(sdk.NotFound, "prompt %d of run %s was not recorded: that is asked for with the prompt", prompt, r.Alias)
	case isOpen(l):
		return rpc.CassettePiece{}, sdk.Errorf(sdk.Conflict, "prompt %d of run %s has not ended; its cassette is there when it has", prompt, r.Alias)
	}
	return e.tapes().Piece(ctx, r, l, offset)
}
