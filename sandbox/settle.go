package sandbox

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/sandbox/frame"
)

// Settle says how the command of a call ended that an earlier manager had
// begun: what Exec would have answered, with the output that the run's runner
// still holds. The command is not begun, nor waited for. It may be asked again,
// until the run's next command but a few begins.
//
// Nobody knows when the container is gone or was made of something else, when
// the command was still running and was killed for this manager, and when the
// call is not known: an [Error] with [CodeLost]. [CodeInvalid] and
// [CodeNotStarted] are of a command that could not be started.
func (m *Manager) Settle(ctx context.Context, runID, call string, sink Sink) (Result, error) {
	if ValidRunID(runID) != nil || call == "" {
		return Result{}, lost("no command has this call id")
	}
	if err := m.enter(); err != nil {
		return Result{}, err
	}
	defer m.active.Done()
	return m.session(runID).settle(ctx, call, sink)
}

func lost(message string) error { return &Error{Code: CodeLost, Message: message} }

func (s *session) settle(ctx context.Context, call string, sink Sink) (Result, error) {
	if err := s.take(ctx); err != nil {
		return Result{}, err
	}
	defer s.give()
	if err := s.claim(ctx); err != nil {
		return Result{}, err
	}
	if s.hasViews() {
		viewer, err := s.manager.views.helper(ctx)
		if err == nil {
			err = s.finishLeft(ctx, viewer, true)
		}
		if err != nil {
			return Result{}, &Error{Code: CodeLost, Message: "what the command changed cannot be looked after", Err: err}
		}
	}
	if s.container == nil {
		return Result{}, lost("the container that the command ran in is gone")
	}
	err := s.container.link.alive()
	var settled frame.Settled
	if err == nil {
		settled, err = s.container.link.settle(call, sink)
	}
	if err != nil {
		if removeErr := s.discard(); removeErr != nil {
			s.manager.logger.Warn("cannot remove a container that does not answer", "run", s.run, "error", removeErr)
		}
		return Result{}, &Error{Code: CodeLost, Message: "the container that the command ran in does not answer", Err: err}
	}
	return s.judge(call, settled)
}

// judge turns what the runner holds into a result, if it is one.
func (s *session) judge(call string, settled frame.Settled) (Result, error) {
	exit := settled.Exit
	if exit.Survivors {
		s.container.spec = "" // the next command gets a new one; this one is still asked
	}
	switch {
	case !settled.Known:
		return Result{}, lost("the runner holds nothing of this call")
	case exit.Cancelled:
		return Result{}, lost("the command was still running, and was killed")
	case !exit.Started && exit.Error != "":
		return Result{}, unstarted(exit)
	case !exit.Started:
		return Result{}, lost("the command was not started")
	}
	r := outcome(exit)
	r.Container, r.Timeout = s.container.short(), time.Duration(settled.TimeoutMS)*time.Millisecond
	if done, dir, ok := s.settled(call); ok {
		defer s.toldAlready(call)
		r.release, r.folder = told(dir, s.manager.views.use(dir)), dir
		r.take(done)
		return r, nil
	}
	r.Violations = s.violations(call, exit)
	return r, nil
}

// violations are those of a command whose manager died: logged by that manager, or
// found when its container was taken over. Of what was unprotected for a time
// there is no copy any more.
func (s *session) violations(call string, exit frame.Exit) []Violation {
	found := s.guard.loggedViolations(call)
	s.pending = slices.DeleteFunc(s.pending, func(v Violation) bool { return slices.Contains(found, v) })
	for _, mount := range exit.Missing {
		path := strings.TrimPrefix(mount, Workspace+"/")
		if !slices.ContainsFunc(found, func(v Violation) bool { return v.Path == path }) {
			found = append(found, Violation{Path: path, Action: ActionReported,
				Detail: "its mount was detached while the command ran, and there is no copy to compare it with"})
		}
	}
	return found
}
