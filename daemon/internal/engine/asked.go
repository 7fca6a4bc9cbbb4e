package engine

import (
	"context"
	"encoding/json"

	"github.com/bothyd/bothy/daemon/internal/proposal"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// A model asks the person something by a call of ask_user. It is a question as plugins ask them
// (inquire.go), but that nobody waits in memory: the answer is the call's result, so it is kept, and a
// question that waits outlives the daemon as every proposal does.

// judgeQuestion makes a question of a model's call, or refuses it.
func (e *Engine) judgeQuestion(a *activeLoop, x *action) {
	q, err := x.own.Question(x.Arguments)
	if err == nil {
		err = e.askable(a)
	}
	if err != nil {
		x.refuse(err)
		return
	}
	x.Asks = true
	x.use(encode(q))
	x.decide(sdk.Decision{
		Verdict: sdk.Propose, Rule: ruleQuestion, Source: "built-in",
		Reason: "the model asks this, and reads what you answer", Instead: "go on without the answer",
	})
}

// answerModel makes a person's answer the result of the call that asked.
func (e *Engine) answerModel(ctx context.Context, q *question, r rpc.Resolve) (rpc.Resolved, error) {
	switch {
	case r.Answer != sdk.Accept && len(r.Data) > 0:
		return rpc.Resolved{}, sdk.Errorf(sdk.Validation, "only an answer that accepts has data")
	case r.Answer == sdk.Reject:
		return e.reject(ctx, q, q.given.Reason)
	case r.Answer == sdk.Cancel:
		return e.answerWith(ctx, q, "the person did not choose an answer")
	case r.Answer != sdk.Accept:
		return rpc.Resolved{}, sdk.Errorf(sdk.Validation, "a question is answered with accept, reject or cancel, not with %q", r.Answer)
	}
	asked, err := sdk.QuestionOf(q.x.Arguments)
	if err == nil {
		err = asked.CheckAnswer(r.Data)
	}
	if err != nil {
		return rpc.Resolved{}, err
	}
	var data map[string]string // of which it has one, a text
	if err := json.Unmarshal(r.Data, &data); err != nil {
		return rpc.Resolved{}, sdk.Errorf(sdk.Validation, "the answer cannot be read: %w", err)
	}
	said := ""
	for _, text := range data {
		said = text
	}
	return e.answerWith(ctx, q, said)
}

func (e *Engine) answerWith(ctx context.Context, q *question, said string) (rpc.Resolved, error) {
	done, err := e.commitAnswer(ctx, q, []sdk.Write{proposal.Answer(q.x.entry, q.given, said)})
	if err == nil {
		e.cfg.Hooks.ProposalAccepted.Emit(ctx, sdk.EntryEvent{Run: q.a.run.ID, Entry: q.x.entry})
	}
	return done, err
}
