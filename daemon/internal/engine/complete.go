package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/bothyd/bothy/daemon/internal/guard"
	"github.com/bothyd/bothy/daemon/internal/stream"
	"github.com/bothyd/bothy/daemon/internal/tape"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/cassette"
)

// complete asks the model, and returns its whole answer. An answer that was
// cut off is no answer: it is kept as a partial entry and its calls are never
// made. A prompt that the server finds too long is shortened more than the
// estimate asked for, and sent again, until it fits or nothing more can go;
// then the loop ends at 413.
func (e *Engine) complete(ctx context.Context, a *activeLoop, p sdk.Prompt) (sdk.Completion, error) {
	e.progress(ctx, a, "thinking")
	c, err := e.ask(ctx, a, p)
	for range maxFits {
		var failed *sdk.ProviderError
		if !errors.As(err, &failed) || failed.Class != sdk.ClassOverflow || context.Cause(ctx) != nil {
			break
		}
		if p, err = e.fitAgain(ctx, a, p, failed); err != nil {
			return c, err
		}
		c, err = e.ask(ctx, a, p)
	}
	var costly *guard.Costly
	if errors.Is(err, errStopping) || errors.As(err, &costly) {
		return c, err // no failure of the model
	}
	if err != nil {
		return c, e.failedCompletion(a, c, err)
	}
	e.keepStep(a, c)
	e.progress(ctx, a, "processing")
	a.turn.completion.Usage = e.billOf(a, a.turn.prompt).Settle(c.Usage, e.written(a, c)) // paid for, also where a hook denies it
	if c, err = e.cfg.Hooks.LLMResponse.Apply(ctx, c); err != nil {
		return c, err
	}
	if c.Usage != nil {
		a.turn.ratio = e.viewOf(a).Observe(a.turn.prompt, *c.Usage)
	} else {
		a.turn.estimate = e.viewOf(a).Estimate(a.turn.prompt)
	}
	if a.ceiling > 0 { // what was taken fits, however it is counted now
		a.ceiling = max(a.ceiling, e.viewOf(a).Estimate(a.turn.prompt))
	}
	c.Usage = e.billOf(a, a.turn.prompt).Settle(c.Usage, e.written(a, c))
	e.cfg.Hooks.LLMRequestCompleted.Emit(ctx, a.turnEvent(map[string]any{"usage": c.Usage}))
	return e.cfg.Hooks.LLMReasoning.Apply(ctx, c)
}

func (e *Engine) progress(ctx context.Context, a *activeLoop, status string) {
	if e.cfg.Hooks.RunProgress.Active() {
		e.cfg.Hooks.RunProgress.Emit(ctx, a.turnEvent(map[string]string{"status": status}))
	}
}

// maxFits bounds how often one prompt is shortened on a server's word. A
// context of unknown length may be a small part of what was sent.
const maxFits = 10

// fitAgain takes the server's word that the prompt is too long: it aims at
// seven tenths of what was sent, and so do the turns that follow.
func (e *Engine) fitAgain(ctx context.Context, a *activeLoop, p sdk.Prompt, failed *sdk.ProviderError) (sdk.Prompt, error) {
	sent := e.viewOf(a).Estimate(p)
	p.Ceiling = sent * 7 / 10
	a.ceiling = p.Ceiling
	p, report, err := e.viewOf(a).Fit(ctx, p, e.cfg.Hooks.AssemblyUser.Apply)
	if err := e.demote(ctx, a, report.Writes); err != nil {
		return p, err
	}
	if err != nil || report.After >= sent {
		return p, a.overflow(fmt.Errorf("the model's server says that the prompt is too long, and no more of it can be left out: %w", failed))
	}
	a.turn.sent.Fitted(p.Ceiling)
	a.turn.note(sdk.KindNotePruned, a.loop.ID, map[string]any{
		"before": report.Before, "after": report.After, "answers": report.Groups, "prompts": report.Prompts,
		"shortened": report.Cut, "because": failed.Message,
	})
	return p, nil
}

// ask sends one request and puts the stream together.
func (e *Engine) ask(ctx context.Context, a *activeLoop, p sdk.Prompt) (c sdk.Completion, err error) {
	p.Messages = a.turn.sent.Told(p.Messages, a.given().Compacts)
	if p, err = e.cfg.Hooks.LLMMessages.Apply(ctx, p); err != nil {
		return c, err
	}
	settled, err := e.guards.Reserve(ctx, a.loop.ID, e.billOf(a, p).Most())
	if err != nil {
		return c, err
	}
	defer func() {
		if came(c) || c.Usage != nil {
			e.guards.Answered(a.loop.ID, a.turn.row.Sequence, e.billOf(a, p).Settle(c.Usage, e.written(a, c)))
		}
		settled()
	}()
	a.turn.prompt = p
	a.turn.sent.Out(&p, e.viewOf(a).Estimate(p), e.viewOf(a), e.cfg.Redact)
	e.cfg.Hooks.LLMRequestStarted.Emit(ctx, a.turnEvent(nil))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(e.draining, func() { cancel(errStopping) })()

	s := e.streams.Answer(a.run.ID, a.loop, a.turn.row.Sequence, a.choice.Alias)
	r := stream.Read(s, e.cfg.Preview, func() stream.Watch { return e.dialectOf(a).Watch(a.offered) })
	_, err = settle(ctx, e, "the completion", func() (struct{}, error) {
		return struct{}{}, e.completion(ctx, a, request(a, p), r)
	})
	c, finished, fault := r.Close()
	stopping := errors.Is(context.Cause(ctx), errStopping)
	s.Close(stopping && !finished) // the next daemon keeps it as a partial answer
	a.turn.streaming = a.turn.streaming || s.Began()
	switch {
	case stopping && finished && err == nil && fault == nil:
		return c, nil // it has come, and it is paid for
	case context.Cause(ctx) != nil:
		return c, context.Cause(ctx)
	case err != nil:
		return c, err
	case fault != nil:
		return c, fault
	case !finished:
		return c, &sdk.ProviderError{Class: sdk.ClassGateway, Streamed: true, Message: "the model's answer was cut off before its end"}
	}
	return c, nil
}

func request(a *activeLoop, p sdk.Prompt) sdk.Request {
	req := sdk.Request{
		Run: a.run.Key, Model: a.choice.Name, MaxTokens: a.agent.MaxTokens, Context: a.choice.Context, Turn: a.turn.row.Sequence,
		Temperature: a.agent.Temperature, Reasoning: a.agent.Reasoning,
		Messages: make([]sdk.Message, 0, len(p.Messages)+1),
	}
	if req.Temperature == nil {
		req.Temperature = a.choice.Temperature
	}
	if p.System != "" {
		req.Messages = append(req.Messages, sdk.Message{Role: sdk.RoleSystem, Text: p.System})
	}
	req.Messages = append(req.Messages, p.Messages...)
	for _, t := range p.Tools {
		req.Tools = append(req.Tools, sdk.ToolDef{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	return req
}

// retrying makes a retry visible at once: a person may be waiting for minutes.
// It is no reason to give up that the store does not take that now.
func (e *Engine) retrying(ctx context.Context, a *activeLoop, turn int, r *stream.Reader, retry sdk.Retry) error {
	if err := r.Restart(); err != nil {
		return err
	}
	e.noteRetry(ctx, a, turn, retry, map[string]any{})
	e.progress(ctx, a, "retrying")
	return nil
}

// noteRetry tells of a retry, with what else is known of who asked.
func (e *Engine) noteRetry(ctx context.Context, a *activeLoop, turn int, retry sdk.Retry, data map[string]any) {
	data["class"], data["wait_ms"], data["attempt"], data["message"] = retry.Class, retry.Wait.Milliseconds(), retry.Attempt, retry.Message
	_, err := e.commit(ctx, once, sdk.Change{Run: a.run.ID, Notes: []sdk.Note{{Kind: sdk.KindNoteRetry, Loop: a.loop.ID, Turn: turn, Data: data}}})
	if err != nil {
		e.log.Warn("a retry could not be recorded", "run", a.run.Alias, "class", retry.Class, "message", retry.Message, "error", err)
	}
}

// previewed ends what is shown of the answer that the loop's model was writing.
func (e *Engine) previewed(a *activeLoop) {
	if e.cfg.Previewed != nil {
		e.cfg.Previewed(a.loop.Run)
	}
}

// came reports whether anything came of an answer, whatever the error says that ended it: a
// plugin that is lost tells of no piece.
func came(c sdk.Completion) bool { return c.Text != "" || c.Reasoning != "" || len(c.Calls) > 0 }

// failedCompletion is the ending of a loop whose model did not answer, or not
// to the end. What came of the answer is kept for people, marked as partial.
func (e *Engine) failedCompletion(a *activeLoop, c sdk.Completion, err error) error {
	partial := came(c)
	end := ending{status: sdk.StatusFailed, stop: sdk.StopFailed, reason: "the model did not answer: " + err.Error()}
	if partial {
		end.reason = "the model did not answer to the end: " + err.Error()
	}
	outcome := sdk.OutcomeOf(err)
	var failed *sdk.ProviderError
	var late *guard.Late
	var differs *cassette.Difference
	switch {
	case errors.As(err, &differs):
		end.stop, end.reason, outcome = sdk.StopMismatch, tape.Differs(differs).Error(), sdk.Validation
	case errors.As(err, &failed) && failed.Replay:
		end.stop, end.reason, outcome = sdk.StopReplay, failed.Message, sdk.Validation
	case failed != nil && failed.NoTools:
		outcome, end.reason = sdk.Unavailable, failed.Message // which names those that can
	case failed != nil && failed.Class == sdk.ClassOverflow:
		end.status, end.stop, outcome = sdk.StatusOverflow, sdk.StopOverflow, sdk.Overflow
		end.reason = "the prompt is too long for the model, even with earlier messages left out: " + failed.Error()
	case failed != nil:
		outcome = sdk.Unavailable
	case errors.Is(err, ErrConfig):
		end.stop = sdk.StopConfig
		end.reason = fmt.Sprintf("the model %s cannot be asked: %v", a.choice.Alias, err)
	case errors.Is(err, errAborted), errors.As(err, &late):
		outcome, end.reason = sdk.Aborted, "the model had not begun to answer yet: "+err.Error()
		if partial {
			end.reason = "the model's answer was cut off: " + err.Error()
		}
	}
	if partial || c.Usage != nil {
		a.turn.completion.Usage = e.billOf(a, a.turn.prompt).Settle(c.Usage, e.written(a, c))
	}
	if c.Text != "" || c.Reasoning != "" {
		w := answerWrite(a, c, sdk.Reading{})
		w.State, w.Outcome = sdk.StateFailed, outcome
		w.Attributes = encode(sdk.Reply{Reasoning: c.Reasoning, Model: a.choice.Alias, Partial: true})
		end.writes = append(end.writes, w)
		a.turn.streaming = false
	}
	end.writes = append(end.writes, a.errorWrite("completion", outcome, end.reason))
	return &loopError{ending: end, cause: err}
}

// cutAnswer ends assistant://N when its pieces are all that there will be.
func (a *activeLoop) cutAnswer(end ending) (sdk.Write, bool) {
	outcome := sdk.Internal
	if end.status == sdk.StatusAborted {
		outcome = sdk.Aborted
	}
	return sdk.Write{
		Path: sdk.ReplyPath(a.turn.row.Sequence), State: sdk.StateFailed, Outcome: outcome, Writer: sdk.WriterSystem,
		Attributes: encode(map[string]bool{"partial": true}), Loop: a.loop.ID, Turn: a.turn.row.Sequence,
	}, a.turn.streaming
}
