package sandbox

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/bothyd/bothy/sandbox/frame"
)

// inView runs one command on a view of the project.
func (s *session) inView(ctx context.Context, run RunSpec, way *viewWay, c Command, sink Sink) (Result, bool, error) {
	run, err := s.readyForView(ctx, run, way, false)
	if err != nil {
		return s.unready(ctx, err)
	}
	v, err := s.openView(ctx, run, way, c.Call)
	if err != nil {
		return Result{}, false, cause(ctx, failed("make a view of the project", err))
	}
	return s.runInView(ctx, run, way, v, c, sink)
}

// readyForView looks after what earlier commands left, and has a container that
// sees what is mounted on the run's slot. It answers the run with that.
func (s *session) readyForView(ctx context.Context, run RunSpec, way *viewWay, keepDone bool) (RunSpec, error) {
	if err := s.finishLeft(ctx, way.viewer, keepDone); err != nil {
		return run, err
	}
	run.slot, run.views = s.slotPath(), s.viewsDir(way.upper)
	if s.container == nil {
		if err := way.viewer.slot(ctx, run.slot); err != nil {
			return run, failed("make the place for the run's views", err)
		}
	}
	return run, s.ensure(ctx, run, &protection{})
}

// runInView runs the command and settles what it changed.
func (s *session) runInView(ctx context.Context, run RunSpec, way *viewWay, v *view, c Command, sink Sink) (Result, bool, error) {
	id := s.container.short()
	exit, overflow, err := s.execute(ctx, run, c, sink, true)
	if err == nil && exit.NoView {
		return Result{}, true, errors.Join(s.withoutView(v), s.discard())
	}
	if err != nil || exit.Survivors {
		// What may still live in it must be gone before anybody looks.
		if removeErr := s.discard(); removeErr != nil {
			return Result{}, false, errors.Join(err, removeErr)
		}
	}
	result, err := s.conclude(ctx, c, exit, err)
	result.Container, result.Timeout, result.Overflow = id, c.Timeout, overflow
	if !exit.Started && err != nil && !s.unknown(err) {
		return result, false, errors.Join(err, v.discard())
	}
	result.release, result.folder = s.manager.views.use(v.spec.Dir), v.spec.Dir
	done, settleErr := settlement{Note: v.note, Applied: true}, error(nil)
	if cut := aborted(ctx); !cut && v.unchanged(ctx) {
		s.behind = func() { // only here: who finishes what was left mounts the next view at once
			v.leave()
			s.mountAhead(run, way)
		}
	} else {
		done, settleErr = s.settleView(ctx, v, cut)
	}
	result.take(done)
	s.report(result)
	if err = errors.Join(err, settleErr); err == nil { // else a later result tells
		result.release = told(v.spec.Dir, result.release)
		s.takeLate(&result)
		if s.behind == nil {
			s.behind = func() { s.mountAhead(run, way) }
		}
	}
	return result, false, err
}

// withoutView gives up a view that its container does not see, and all others with
// it when that was a new container.
func (s *session) withoutView(v *view) error {
	s.blind++
	if s.blind > 1 {
		s.manager.views.unseen()
	}
	return v.discard()
}

// unknown says whether an error leaves it open whether the command was started.
func (s *session) unknown(err error) bool { return Code(err) == CodeLost || Code(err) == "" }

// aborted says whether a command was ended by a person, or by the end of its run or
// its manager: what it had changed by then is not applied. One whose time was up
// has ended like any other.
func aborted(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded)
}

// settleView applies what a command changed, or keeps it where it was cut short.
func (s *session) settleView(ctx context.Context, v *view, cut bool) (settlement, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), MaxTimeout)
	defer cancel()
	if !cut {
		return v.settle(ctx)
	}
	if err := v.unmount(true); err != nil {
		return settlement{}, err
	}
	changes, err := v.viewer.list(ctx, v.spec, mostChanges)
	if err == nil && len(changes) == 0 {
		v.remove()
		return settlement{}, nil
	}
	return v.keep(), nil
}

// take adds what became of the command's changes.
func (r *Result) take(s settlement) {
	r.Changes = slices.DeleteFunc(slices.Clone(s.Changes), func(c Change) bool { return c.Path == "" })
	r.Held, r.Conflicts, r.Kept = s.Held, s.Conflicts, s.Kept
	r.Violations = append(r.Violations, s.Violations...)
	r.Viewed = true
}

// report logs what was not applied.
func (s *session) report(r Result) {
	for _, v := range r.Violations {
		s.manager.logger.Warn("a command changed a protected path", "run", s.run, "path", v.Path, "action", v.Action, "kept", v.Kept, "detail", v.Detail)
	}
	for _, c := range r.Conflicts {
		if c.Reason != "" {
			s.manager.logger.Warn("what a command changed could not be applied", "run", s.run, "path", c.Path, "reason", c.Reason, "kept", c.Kept)
			continue
		}
		s.manager.logger.Warn("a path changed while a command ran; the command's version was kept aside", "run", s.run, "path", c.Path, "kept", c.Kept)
	}
}

// hasViews says whether anything of views of the run is left.
func (s *session) hasViews() bool {
	return slices.ContainsFunc(s.manager.cfg.uppers(), func(upper string) bool { return len(leftViews(s.viewsDir(upper))) > 0 })
}

// finishLeft looks after the views that earlier commands of the run left: one that
// was being applied is finished, one whose command ended under no manager's eyes is
// settled by what the runner says of that, the rest is kept or removed. What is done
// is removed too, unless keepDone says that somebody may still ask about it.
func (s *session) finishLeft(ctx context.Context, viewer *viewer, keepDone bool) error {
	for _, upper := range s.manager.cfg.uppers() {
		for _, dir := range leftViews(s.viewsDir(upper)) {
			if s.ahead != nil && s.ahead.view.spec.Dir == dir {
				continue
			}
			v, plan, state := s.leftover(viewer, dir)
			if state != viewDone {
				s.dropAhead() // one at a time is on the slot
			}
			if err := s.finishOne(ctx, v, plan, state, keepDone); err != nil {
				return err
			}
		}
	}
	return s.dropStale(ctx, viewer)
}

func (s *session) finishOne(ctx context.Context, v *view, plan settlement, state viewState, keepDone bool) error {
	switch state {
	case viewPlanned:
		s.manager.logger.Info("finishing to apply what a command changed", "run", s.run, "call", v.note.Call)
		if err := v.locked(ctx, func() error { return v.apply(ctx, &plan) }); err != nil {
			return err
		}
		s.tellLater(plan, v.spec.Dir)
	case viewAgreed:
		s.manager.logger.Info("finishing to apply what a person agreed to", "run", s.run)
		var a agreement
		if err := readGob(filepath.Join(v.spec.Dir, agreedName), &a); err != nil {
			return failed("read what a person agreed to", err)
		}
		return v.locked(ctx, func() error { return v.carryOut(ctx, a) })
	case viewCut:
		v.mounted = true
		known := exists(filepath.Join(v.spec.Dir, endedName))
		ended := known || s.container != nil && s.container.link.alive() == nil && s.hasEnded(v.note.Call)
		if !ended {
			if err := s.discard(); err != nil { // nothing may live in it
				return err
			}
		}
		done, err := s.settleView(ctx, v, !ended)
		if err == nil {
			s.tellLater(done, v.spec.Dir)
		}
		if done.Kept != "" {
			s.manager.logger.Warn("what an interrupted command changed was not applied, and is kept", "run", s.run, "kept", done.Kept)
		}
		return err
	case viewDone:
		if plan.tells() && exists(filepath.Join(v.spec.Dir, lateName)) && !s.manager.views.inUse(v.spec.Dir) {
			s.tellLater(plan, v.spec.Dir)
			return nil
		}
		if !plan.keeps() && !exists(filepath.Join(v.spec.Dir, retainedName)) && !keepDone && !s.manager.views.inUse(v.spec.Dir) {
			v.remove()
		}
	case viewEmpty:
		v.mounted = true // perhaps
		return v.discard()
	}
	return nil
}

// hasEnded asks the runner whether a call's command came to its end by itself.
func (s *session) hasEnded(call string) bool {
	if call == "" {
		return false
	}
	settled, err := s.container.link.settle(call, nil)
	return err == nil && settled.Known && settled.Exit.Started && !settled.Exit.Cancelled && !settled.Exit.Survivors
}

// settled is what became of the changes of a call's command, as it is written down.
func (s *session) settled(call string) (done settlement, dir string, ok bool) {
	for _, upper := range s.manager.cfg.uppers() {
		for _, dir := range leftViews(s.viewsDir(upper)) {
			if readGob(filepath.Join(dir, doneName), &done) == nil && done.Note.Call == call && call != "" {
				return done, dir, true
			}
			done = settlement{}
		}
	}
	return done, "", false
}

// dropViews takes away what is left of the run's views; all says that what was kept
// for a person goes too.
func (s *session) dropViews(ctx context.Context, all bool) error {
	var left []string
	for _, upper := range s.manager.cfg.uppers() {
		if dir := s.viewsDir(upper); exists(dir) {
			left = append(left, dir)
		}
	}
	if len(left) == 0 {
		return nil
	}
	viewer, err := s.manager.views.helper(ctx)
	if err != nil {
		return err
	}
	defer s.dropLate()
	if err := s.finishLeft(ctx, viewer, false); err != nil {
		if !all {
			return err
		}
		s.manager.logger.Warn("what an earlier command changed could not be finished, and goes with the reset", "run", s.run, "error", err)
	}
	s.left.Wait()
	errs := []error{viewer.unslot(ctx, s.slotPath())}
	for _, dir := range left {
		if all {
			errs = append(errs, viewer.remove(ctx, dir))
			continue
		}
		errs = append(errs, viewer.remove(ctx, filepath.Join(dir, goneName)))
	}
	return errors.Join(errs...)
}

// execute sends one command to the runner, and watches what it fills.
func (s *session) execute(ctx context.Context, run RunSpec, c Command, sink Sink, inView bool) (frame.Exit, *Overflow, error) {
	inner, kill := context.WithCancelCause(ctx)
	defer kill(nil)
	watch := s.watch(run, kill)
	exit, err := s.container.link.exec(inner, frame.Exec{
		Call: c.Call, Argv: c.Argv, Dir: c.Dir, Env: environment(s.manager.searchPath(run), c.Dir, run.Network),
		TimeoutMS: c.Timeout.Milliseconds(), StdoutCap: c.StdoutCap, StderrCap: c.StderrCap, View: inView,
	}, sink)
	return exit, watch.end(), err
}
