package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Resume goes on with a run whose last loop was cut short: aborted, failed, or
// stopped by a guard. It is a new loop with the old one's mode, model and
// agent, and its prompt is a short one that the model and people see. A run at
// work, one that finished well and one without a prompt are conflicts.
func (e *Engine) Resume(ctx context.Context, run int64) (Accepted, error) {
	letGo, err := e.alone(run)
	if err != nil {
		return Accepted{}, err
	}
	defer letGo()
	p := placed{}
	if p.run, err = e.cfg.Store.Run(ctx, run); err != nil {
		return Accepted{}, err
	}
	last, err := e.lastCut(ctx, p.run)
	if err != nil {
		return Accepted{}, err
	}
	if p.project, err = e.cfg.Store.Project(ctx, p.run.Project); err != nil {
		return Accepted{}, err
	}
	if p.agent, err = e.AgentOf(agentsAt(p.project, p.run.Private), last.Agent); err != nil {
		return Accepted{}, err
	}
	model := last.Model
	if optionsOf(last).Replay != "" {
		model = p.run.Model // what comes now is on no cassette
	}
	if p.choice, err = e.cfg.Models.Resolve(ctx, model); err != nil {
		return Accepted{}, err
	}
	o := loopOptions{Resumes: last.ID, Schema: optionsOf(last).Schema, Otherwise: optionsOf(last).Otherwise}
	if o.Mode, err = e.resumedMode(ctx, p, last); err != nil {
		return Accepted{}, err
	}
	l := sdk.Loop{ReadOnly: last.ReadOnly, Prompt: goOn(last)}
	if l.Meaning, err = e.planMeaning(ctx, p.run, l.Prompt); err != nil {
		return Accepted{}, err
	}
	a, err := e.queue(ctx, p, l, o)
	a.Mode = o.Mode
	return a, err
}

// resumedMode is the old loop's, unless that was full: full mode for one
// prompt is not given again by whoever resumes it.
func (e *Engine) resumedMode(ctx context.Context, p placed, last sdk.Loop) (sdk.Mode, error) {
	old := activeLoop{loop: last, agent: p.agent}
	if e.options(&old); old.mode == sdk.ModeFull {
		old.mode = ""
	}
	return e.grant(ctx, p, Submission{Mode: old.mode})
}

// lastCut is the run's last loop, when that did not end well.
func (e *Engine) lastCut(ctx context.Context, run sdk.Run) (sdk.Loop, error) {
	loops, err := e.cfg.Store.Loops(ctx, run.ID)
	if err != nil {
		return sdk.Loop{}, err
	}
	var last sdk.Loop
	for _, l := range loops {
		if isOpen(l) {
			return l, sdk.Errorf(sdk.Conflict, "the run %[1]s is at work or has a prompt waiting, so there is nothing to resume; `bothy runs show %[1]s` tells how far it is", run.Alias)
		}
		if l.Sequence > last.Sequence && l.Stop != sdk.StopTaken && !optionsOf(l).Compacts {
			last = l
		}
	}
	switch {
	case last.ID == 0:
		return last, sdk.Errorf(sdk.Conflict, "the run %[1]s has had no prompt of its own yet, so there is nothing to resume; give it one: bothy run -r %[1]s \"...\"", run.Alias)
	case well(last):
		return last, sdk.Errorf(sdk.Conflict, "the run %[1]s finished its last prompt, so there is nothing to resume; give it a new one: bothy run -r %[1]s \"...\"", run.Alias)
	}
	return last, nil
}

// resumed are the prompts of its run that a prompt goes on with, the last first; mostly none.
func (e *Engine) resumed(ctx context.Context, l sdk.Loop) (before []sdk.Loop, err error) {
	if optionsOf(l).Resumes == 0 {
		return nil, nil
	}
	all, err := e.cfg.Store.Loops(ctx, l.Run)
	if err != nil {
		return nil, err
	}
	slices.Reverse(all)
	for _, other := range all {
		if other.ID == optionsOf(l).Resumes {
			before, l = append(before, other), other
		}
	}
	return before, nil
}

// well reports whether a loop came to the end that its model gave it.
func well(l sdk.Loop) bool {
	return (l.Status == sdk.StatusOK || l.Status == sdk.StatusNoContent) && (l.Stop == sdk.StopAnswer || l.Stop == sdk.StopTerminal)
}

// goOn is the prompt that resumes a loop.
func goOn(l sdk.Loop) string {
	why := strings.TrimRight(sdk.Excerpt(l.Reason), ".")
	if why == "" {
		why = l.Stop
	}
	return fmt.Sprintf("Go on with the prompt before this one: the work on it was cut short (%s). Look at what is done already before you repeat anything.", why)
}
