package engine

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// speaks reports whether there are the dialect and the view that an agent names. A loop keeps those it began with: they are
// of the agent's definition, which it keeps.
func (e *Engine) speaks(a sdk.Agent) error {
	if _, is := e.cfg.Dialects[cmp.Or(a.Dialect, sdk.DialectTools)]; !is {
		return sdk.Errorf(sdk.Validation, "agent %q wants the dialect %q; there are: %s", a.Name, a.Dialect, strings.Join(slices.Sorted(maps.Keys(e.cfg.Dialects)), ", "))
	}
	if _, is := e.cfg.Views[cmp.Or(a.View, sdk.ViewTranscript)]; !is {
		return sdk.Errorf(sdk.Validation, "agent %q wants the view %q; there are: %s", a.Name, a.View, strings.Join(slices.Sorted(maps.Keys(e.cfg.Views)), ", "))
	}
	return nil
}

// viewOf is the view of the loop's agent.
func (e *Engine) viewOf(a *activeLoop) Assembler {
	return e.cfg.Views[cmp.Or(a.agent.View, sdk.ViewTranscript)]
}

// dialectOf is the dialect of the loop's agent.
func (e *Engine) dialectOf(a *activeLoop) Dialect {
	return e.cfg.Dialects[cmp.Or(a.agent.Dialect, sdk.DialectTools)]
}

// contextUse is how much of the context of the loop's model its prompts take.
func (e *Engine) contextUse(a *activeLoop) sdk.ContextUse {
	return a.agent.Context.Or(e.cfg.Models.ContextUse(a.choice.Alias))
}

// takesTools reports whether a model can be offered tools in the dialect of an agent.
func (e *Engine) takesTools(agent sdk.Agent, c sdk.ModelChoice) bool {
	return c.Tools == nil || *c.Tools || !e.cfg.Dialects[cmp.Or(agent.Dialect, sdk.DialectTools)].Native()
}

// forgetViews drops what views keep for a run.
func (e *Engine) forgetViews(run int64) {
	for _, v := range e.cfg.Views {
		v.Forget(run)
	}
}
