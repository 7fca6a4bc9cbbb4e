// Package finish judges what an agent hands over by finish_task: whether work was done for it, whether it satisfies
// the agent's schema, whether its claims are proven, and what a plugin says of it. It is pure: the work goes in, why it is
// refused comes out.
package finish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/schema"
)

// Gates are what a result has to pass.
type Gates struct {
	Spec sdk.FinishSpec
	// Idle says that the agent is offered nothing to work with, so that it can have done nothing.
	Idle bool
	// Validate asks the plugin that Spec.Validator names. An error is that it did not judge.
	Validate func(ctx context.Context, plugin string, w sdk.Work) (sdk.Judgement, error)
}

// Unjudged is that the validator did not judge a result, which is no fault of the agent's.
type Unjudged struct {
	Validator string
	Cause     error
}

func (e *Unjudged) Error() string {
	return fmt.Sprintf("the validator %s did not judge the result: %v", e.Validator, e.Cause)
}

func (e *Unjudged) Unwrap() error { return e.Cause }

// Judge asks one gate after the other: whether another call was tried, the schema, the proofs, the validator. Nil
// accepts the result. The error of the first that refuses is for the model, and says all that this one misses; of an
// Unjudged it is for people.
func (g Gates) Judge(ctx context.Context, w sdk.Work) error {
	if !g.Idle && !slices.ContainsFunc(w.Done, func(d sdk.WorkDone) bool { return Works(d.Plugin, d.Tool) }) {
		return refused("nothing was done for it yet", "do the work first, with the tools that there are, and hand over what came of it")
	}
	compiled, err := schema.Compile(g.Spec.Schema)
	if err != nil {
		return refused("what it has to hold cannot be read", "tell the person that the schema of the agent's finish is to be mended: "+err.Error())
	}
	if _, err := compiled.Validate(w.Result); err != nil {
		return refused("the arguments do not satisfy its schema", err.Error())
	}
	for _, name := range g.Spec.Prove {
		prove, known := proofs[name]
		if !known {
			return refused("what it claims cannot be proven", fmt.Sprintf("tell the person that there is no proof %q", name))
		}
		if missing := prove(w); len(missing) > 0 {
			return refused("what it claims is not proven", missing...)
		}
	}
	if g.Spec.Validator == "" {
		return nil
	}
	return g.validate(ctx, w)
}

// validate asks the plugin. One that is missing, and a judgement that says neither, refuse.
func (g Gates) validate(ctx context.Context, w sdk.Work) error {
	if g.Validate == nil {
		return &Unjudged{g.Spec.Validator, errors.New("nothing here runs plugins")}
	}
	j, err := g.Validate(ctx, g.Spec.Validator, w)
	switch {
	case err != nil:
		return &Unjudged{g.Spec.Validator, err}
	case j.Accepted:
		return nil
	}
	return refused("the validator "+g.Spec.Validator+" refused it", j.Missing...)
}

// Works reports whether calls of a tool are work on a task, whatever comes of them: to hand a result over is none, nor
// is to say how far a plan is. The tool is named as its plugin declares it.
func Works(plugin, tool string) bool {
	return plugin != sdk.OwnPlugin || tool != sdk.ToolFinish && tool != sdk.ToolPlan
}

// refused is why a result is not accepted; missing is what has to be done, one thing each.
func refused(why string, missing ...string) error {
	text := sdk.ToolFinish + " was not accepted: " + why
	switch len(missing) {
	case 0:
	case 1:
		text += ": " + missing[0]
	default:
		text += ":\n- " + strings.Join(missing, "\n- ")
	}
	return sdk.Errorf(sdk.Validation, "%s", text)
}
