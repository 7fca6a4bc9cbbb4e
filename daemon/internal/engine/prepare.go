package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// prepareTime bounds making ready what calls need. A call that comes later does
// the work itself.
const prepareTime = time.Minute

// prepareTools has tools make ready what their calls in the run need, while the
// model thinks: of those that the loop offers, the ones that say they prepare. It
// waits for nothing, and nothing that comes of it is an error of the turn.
func (e *Engine) prepareTools(ctx context.Context, a *activeLoop) {
	if a.prepared {
		return
	}
	a.prepared = true
	for _, at := range e.places(a.plugged, a.project, a.run) {
		e.busy.Add(1) // the loop is counted too, so Close cannot have returned
		a.making.Go(func() {
			defer e.busy.Done()
			e.prepareTool(ctx, at)
		})
	}
}

// places are what tools make ready for a run. Only a plugin that somebody vouches
// for is asked, as no call of it was decided about.
func (e *Engine) places(tools []sdk.Tool, project sdk.Project, run sdk.Run) (all []sdk.Place) {
	for _, t := range which(tools, func(t sdk.Tool) bool { return t.Prepares && t.Pinned }) {
		at := sdk.Place{Tool: cmp.Or(t.Runs, t.Name), Run: run.Key, Project: e.workplace(t, run, project.Root), RunDir: e.runDir(run)}
		if e.cfg.Access != nil {
			at.Network = !run.Private && !run.Offline && e.cfg.Access.Network(project.Root)
		}
		if !slices.Contains(all, at) { // by another of its names
			all = append(all, at)
		}
	}
	return all
}

// awaitView waits until it is known whether commands of the loop work on a copy of
// the project, where what it may do depends on that: what is decided is recorded, and is
// not to hang on which of the two came first.
func (e *Engine) awaitView(ctx context.Context, a *activeLoop) {
	if a.mode != sdk.ModeWorkspace && a.run.Writes == nil || e.cfg.Access == nil {
		return
	}
	if _, known := e.view(a.project, a.run); known {
		return
	}
	e.prepareTools(ctx, a)
	a.making.Wait() // each ends with ctx
}

// view says whether commands of a run work on a copy of its project; false when that is
// not known yet.
func (e *Engine) view(project sdk.Project, run sdk.Run) (sdk.Prepared, bool) {
	if run.Private {
		return sdk.Prepared{Reason: "a channel made this run, so that its commands work in a folder of its own"}, true
	}
	return e.cfg.Access.View(project.Root)
}

// wantView refuses a mode that somebody asked for by its name where it is not
// possible. What is not known yet is found out in the prompt's run.
func (e *Engine) wantView(ctx context.Context, p placed, s Submission) error {
	if s.Mode != sdk.ModeWorkspace {
		return nil
	}
	if s.Origin.Channel != "" {
		return sdk.Errorf(sdk.Validation, "mode workspace is not for channels; leave the mode out")
	}
	if e.cfg.Access == nil {
		return noView("nothing here runs commands")
	}
	view, known := e.view(p.project, p.run)
	if !known && p.run.ID == 0 {
		return nil
	}
	if !known {
		for _, at := range e.places(e.offer(p.agent, s.ReadOnly), p.project, p.run) {
			e.prepareTool(ctx, at)
		}
		view, known = e.view(p.project, p.run)
	}
	switch {
	case !known:
		return noView("no container could be made, and nothing is known (`bothy doctor` looks at it)")
	case !view.View:
		return noView(view.Reason)
	}
	return nil
}

func noView(why string) error {
	return sdk.Errorf(sdk.Validation, "mode workspace is not possible here: %s; leave --mode out, or choose interactive or restricted", why)
}

// prepareTool ends with the loop, and when the daemon begins to stop.
func (e *Engine) prepareTool(ctx context.Context, at sdk.Place) {
	ctx, cancel := context.WithTimeout(ctx, prepareTime)
	defer cancel()
	defer context.AfterFunc(e.draining, cancel)()
	_, err := settle(ctx, e, "making a tool's place ready", func() (sdk.Prepared, error) { return e.cfg.Tools.Prepare(ctx, at) })
	if err != nil {
		e.log.Debug("what a tool's calls need was not made ready", "tool", at.Tool, "run", at.Run, "error", err)
	}
}
