package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/bothyd/bothy/sdk"
)

// Why another model answers in the place of one (ADR 0069).
const (
	lacksTools  = "tools"
	lacksSight  = "images"
	lacksRoom   = "context"
	unreachable = "unreachable"
)

// errNoTools is a model that cannot call the tools that it would be offered.
var errNoTools = &sdk.ProviderError{Class: sdk.ClassNever, NoTools: true, Message: "it cannot call tools"}

// fitsTools reports whether a model can be offered the tools of the turn, if there are any.
func (e *Engine) fitsTools(a *activeLoop, c sdk.ModelChoice) bool {
	return len(a.offered) == 0 || e.takesTools(a.agent, c)
}

// fallBack chooses the next model of the chain in the place of one that could not answer,
// and reports whether there is one. The loop keeps it: whoever could not answer this turn
// would be asked in vain at each. What is passed over is told too.
func (e *Engine) fallBack(ctx context.Context, a *activeLoop, err error) bool {
	why := insteadOf(err)
	if why == "" || context.Cause(ctx) != nil || e.draining.Err() != nil {
		return false
	}
	for len(a.chain) > 0 {
		name := a.chain[0]
		a.chain = a.chain[1:]
		next, unfound := e.cfg.Models.ResolveConfigured(ctx, name)
		passed := ""
		switch {
		case unfound != nil:
			passed = unfound.Error()
		case !e.fitsTools(a, next):
			passed = "it cannot call tools"
		case !e.fitsImages(ctx, a, &next):
			passed = "it takes no images"
		case a.head.Local && !next.Local && why == unreachable && !a.head.FallbackUnreachable:
			passed = fmt.Sprintf("%s runs on this machine and %s does not, and that a server is down is no reason to send it what only this machine was told; fallback_on = [\"%s\"] in the model block is one", a.head.Alias, next.Alias, unreachable)
		}
		if passed != "" {
			e.noteFallback(ctx, a, name, why, fmt.Sprintf("%s is passed over: %s", name, passed))
			continue
		}
		e.noteFallback(ctx, a, next.Alias, why, fmt.Sprintf("%s answers in the place of %s: %v", next.Alias, a.choice.Alias, err))
		e.change(ctx, a, next)
		a.turn.row.Model = next.Alias
		return true
	}
	return false
}

// change gives a loop another model, of whose server it has learned nothing.
func (e *Engine) change(ctx context.Context, a *activeLoop, next sdk.ModelChoice) {
	if next.Alias != a.choice.Alias {
		a.ceiling = 0
	}
	a.choice = next
	a.choice.Context = a.run.Limit(next.Context)
	e.price(ctx, a.loop.ID, &a.choice)
}

// keepModel has a loop that an earlier daemon began go on with the model of its chain that answered last, and with what the server of
// that had taught.
func (e *Engine) keepModel(ctx context.Context, a *activeLoop) {
	var last sdk.Reply
	for i := range a.had {
		if at, err := sdk.ReplyOf(a.had[i].answer.Attributes); err == nil && a.had[i].answer.State == sdk.StateResolved {
			last = at
		}
	}
	for i := 0; last.Model != "" && last.Model != a.choice.Alias && i < len(a.chain); i++ { // to resolve a name may start its server
		next, err := e.cfg.Models.ResolveConfigured(ctx, a.chain[i])
		if err == nil && next.Alias == last.Model {
			e.change(ctx, a, next)
			a.chain = a.chain[i+1:]
		}
	}
	if last.Model == a.choice.Alias {
		a.ceiling = last.Ceiling
	}
	if a.from != stageOpen && a.turn != nil {
		a.turn.row.Model = last.Model
	}
}

// insteadOf is why another model may answer; empty where none may. A piece of an answer that
// was shown is not taken back.
func insteadOf(err error) string {
	var failed *sdk.ProviderError
	var ended *loopError
	switch {
	case errors.Is(err, errNoImages):
		return lacksSight
	case errors.As(err, &failed):
		switch {
		case failed.Streamed, failed.Replay:
			return ""
		case failed.NoTools:
			return lacksTools
		case failed.Class == sdk.ClassOverflow:
			return lacksRoom
		}
		return unreachable
	case errors.As(err, &ended) && ended.stop == sdk.StopOverflow:
		return lacksRoom
	case errors.Is(err, ErrConfig), sdk.OutcomeOf(err) == sdk.Unavailable:
		return unreachable
	}
	return ""
}

// noteFallback makes visible at once which model answers, and why.
func (e *Engine) noteFallback(ctx context.Context, a *activeLoop, to, why, message string) {
	note := sdk.Note{Kind: sdk.KindNoteFallback, Loop: a.loop.ID, Turn: a.turn.row.Sequence, Data: map[string]any{
		"from": a.choice.Alias, "to": to, "why": why, "message": message,
	}}
	if _, err := e.commit(ctx, once, sdk.Change{Run: a.run.ID, Notes: []sdk.Note{note}}); err != nil {
		e.log.Warn("that another model answers could not be recorded", "run", a.run.Alias, "message", message, "error", err)
	}
	e.progress(ctx, a, "retrying")
}
