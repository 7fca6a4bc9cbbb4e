package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sandbox/frame"
)

// session is one run's place: its container, and the turn of its commands.
type session struct {
	manager *Manager
	run     string
	dir     string
	// turn holds one token: who has it may use the fields below.
	turn      chan struct{}
	lock      *os.File // nil while the run is not this manager's own
	container *container
	guard     *violationGuard
	meter     *meter
	pending   []Violation
	// late are plans that were carried out after their command's result was told: the
	// next command's result tells them.
	late []lateSettlement
	// behind is done when the command's result is told, before the turn is given back.
	behind func()
	// ahead is the view of the next command, mounted already.
	ahead *ahead
	// blind counts the containers that did not see the view of a command.
	blind int
	// left counts what is still done behind results that were told; who has the turn adds
	// to it and waits for it.
	left sync.WaitGroup

	mu sync.Mutex
	// stop ends the command that runs now.
	stop context.CancelCauseFunc
}

// container is a running container with its runner connected.
type container struct {
	id   string
	pid  int
	spec string
	link *link
}

// short is the id as Podman shows it.
func (c *container) short() string { return c.id[:min(12, len(c.id))] }

func newSession(m *Manager, run string) *session {
	return &session{manager: m, run: run, dir: filepath.Join(m.cfg.Dir, "s", key(run)), turn: make(chan struct{}, 1)}
}

func (s *session) take(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *session) give() { <-s.turn }

// giveLater gives the turn back when what is left for then is done: nobody waits for
// that but who wants the turn, and the manager's end.
func (s *session) giveLater() {
	behind := s.behind
	s.behind = nil
	if behind == nil {
		s.give()
		return
	}
	s.later(func() {
		defer s.give()
		behind()
	})
}

// later does something behind the result that is told. Who calls it has the turn, or is
// called so. The manager's end waits for it, and who drops the run's views does.
func (s *session) later(f func()) {
	s.left.Add(1)
	s.manager.views.behind.Go(func() {
		defer s.left.Done()
		f()
	})
}

// exec waits for its turn and runs one command. A container whose mounts are
// gone, or whose runner is, is made anew; that happens before the command was
// started, so that none is ever run twice.
func (s *session) exec(ctx context.Context, run RunSpec, c Command, sink Sink) (Result, error) {
	ctx, end, err := s.begin(ctx, run)
	if err != nil {
		return Result{}, err
	}
	defer end()
	for range attempts {
		result, again, err := s.attempt(ctx, run, c, sink)
		if !again {
			return result, err
		}
	}
	return Result{}, failed("the project's protected paths keep changing; try again when nothing else changes them", nil)
}

// attempts is how often a container is made anew because a mount of it is gone.
const attempts = 3

// begin waits for the run's turn and makes the run this manager's own. The
// context that it returns ends when the run is dropped, too; end gives the turn
// back.
func (s *session) begin(ctx context.Context, run RunSpec) (_ context.Context, end func(), err error) {
	if err := s.take(ctx); err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			s.give()
		}
	}()
	if err := run.makeDirs(); err != nil {
		return nil, nil, err
	}
	if err := s.claim(ctx); err != nil {
		return nil, nil, err
	}
	s.keep(run)
	ctx, cancel := context.WithCancelCause(ctx)
	s.setStop(cancel)
	return ctx, func() {
		s.setStop(nil)
		cancel(nil)
		s.giveLater()
	}, nil
}

// attempt runs the command unless a mount is gone: on a view where one is possible.
func (s *session) attempt(ctx context.Context, run RunSpec, c Command, sink Sink) (Result, bool, error) {
	way := s.manager.views.way(ctx, run)
	switch {
	case way.reason == "":
		return s.inView(ctx, run, way, c, sink)
	case run.Viewed:
		return Result{}, false, &Error{Code: CodeNoView, Message: "the command was not run, since it may run on a view of the project only, and none is possible: " + way.reason}
	case run.Project != "":
		return s.inProject(ctx, run, way.reason, c, sink)
	}
	return s.inPrivate(ctx, run, c, sink)
}

// inProject runs one command in the project itself.
func (s *session) inProject(ctx context.Context, run RunSpec, reason string, c Command, sink Sink) (Result, bool, error) {
	g, err := s.guard.projects.enter(ctx, run)
	if err != nil {
		return Result{}, false, err
	}
	defer g.leave()
	if err = s.ensure(ctx, run, g.protection); err != nil {
		return s.unready(ctx, err)
	}
	result, again, err := s.command(ctx, run, g, c, sink)
	result.Direct = reason
	return result, again, err
}

// inPrivate runs one command in the run's private workspace, in which nobody but
// the run's commands obeys or runs anything: so nothing of it is judged.
func (s *session) inPrivate(ctx context.Context, run RunSpec, c Command, sink Sink) (Result, bool, error) {
	if err := s.ensure(ctx, run, &protection{}); err != nil {
		return s.unready(ctx, err)
	}
	id := s.container.short()
	exit, overflow, err := s.execute(ctx, run, c, sink, false)
	if err != nil || exit.Survivors {
		if removeErr := s.discard(); removeErr != nil && err == nil {
			err = removeErr
		}
	}
	result, err := s.conclude(ctx, c, exit, err)
	result.Container, result.Violations, result.Timeout, result.Overflow = id, s.pending, c.Timeout, overflow
	s.pending = nil
	return result, false, err
}

// unready is what becomes of a command for which there is no container.
func (s *session) unready(ctx context.Context, err error) (_ Result, again bool, _ error) {
	switch {
	case errors.Is(err, errShifted):
		s.manager.logger.Info("a protected path changed while the container was being made", "run", s.run, "error", err)
		return Result{}, true, nil
	case Code(err) == CodeSwapped:
		return Result{Violations: s.swapped(err)}, false, err
	}
	return Result{}, false, cause(ctx, err)
}

// cause prefers the reason of a cancellation to what it led to.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (s *session) keep(run RunSpec) {
	if s.guard == nil || s.guard.runDir != run.RunDir {
		s.guard = newViolationGuard(run.RunDir, s.manager.projects)
		s.pending = append(s.pending, s.guard.recover()...)
	}
}

// limits are the run's own, or the manager's.
func (s *session) limits(run RunSpec) Limits {
	if run.Limits != nil {
		return run.Limits.WithDefaults()
	}
	return s.manager.cfg.Limits
}

func (s *session) setStop(stop context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop = stop
}

// command runs one command in the container. Again is set when it was not
// started because a mount was gone.
func (s *session) command(ctx context.Context, run RunSpec, g *guarded, c Command, sink Sink) (result Result, again bool, err error) {
	if err := s.guard.begin(g, s.run, c.Call); err != nil {
		return Result{}, false, err
	}
	id := s.container.short()
	exit, overflow, err := s.execute(ctx, run, c, sink, false)
	dirty := err != nil || exit.Survivors || len(exit.Missing) > 0
	if dirty {
		// What may still live in it must be gone before anybody looks.
		if removeErr := s.discard(); removeErr != nil && err == nil {
			err = removeErr
		}
	}
	exposed := err != nil || exit.Started && len(exit.Missing) > 0
	violations := append(s.pending, s.guard.after(g, c.Call, exposed)...)
	s.pending = nil
	s.guard.end()
	if err == nil && !exit.Started && len(exit.Missing) > 0 {
		s.pending = violations
		return Result{}, true, nil
	}
	for _, v := range violations {
		s.manager.logger.Warn("a command changed a protected path", "run", s.run, "path", v.Path, "action", v.Action, "kept", v.Kept, "detail", v.Detail)
	}
	result, err = s.conclude(ctx, c, exit, err)
	result.Container, result.Violations, result.Timeout, result.Overflow = id, violations, c.Timeout, overflow
	return result, false, err
}

// watch looks at what the run's files come to while a command runs.
func (s *session) watch(run RunSpec, kill context.CancelCauseFunc) *watch {
	if s.meter == nil || s.meter.run != run.place() {
		s.meter = newMeter(run)
	}
	return s.meter.begin(s.limits(run).Quota, kill)
}

// conclude turns how the exchange ended into a result.
func (s *session) conclude(ctx context.Context, c Command, exit frame.Exit, err error) (Result, error) {
	switch {
	case ctx.Err() != nil:
		return outcome(exit), context.Cause(ctx)
	case errors.Is(err, errOverdue):
		return Result{TimedOut: true, ExitCode: 128 + int(syscall.SIGKILL), Signal: "SIGKILL", Duration: c.Timeout}, nil
	case err != nil:
		return Result{}, &Error{Code: CodeLost, Message: "the sandbox was lost while the command ran", Hint: "the next command gets a new one", Err: err}
	case !exit.Started:
		return Result{}, unstarted(exit)
	}
	return outcome(exit), nil
}

// unstarted is the error of a command of which no process was made.
func unstarted(exit frame.Exit) error {
	code := CodeInvalid
	if exit.Unusable {
		code = CodeNotStarted
	}
	return &Error{Code: code, Message: exit.Error}
}

func outcome(exit frame.Exit) Result {
	r := Result{
		ExitCode: exit.Code, TimedOut: exit.TimedOut, OOM: exit.OOM, Leftovers: exit.Leftovers,
		Duration:      time.Duration(exit.DurationUS) * time.Microsecond,
		StdoutDropped: exit.StdoutDropped, StderrDropped: exit.StderrDropped,
	}
	if exit.Signal != 0 {
		if r.Signal = unix.SignalName(syscall.Signal(exit.Signal)); r.Signal == "" {
			r.Signal = fmt.Sprintf("signal %d", exit.Signal)
		}
	}
	return r
}

var errDropped = &Error{Code: CodeLost, Message: "the run was reset while the command ran"}

// drop ends the command that runs and removes the container; then it calls
// reset, if there is one, before the next command gets its turn.
func (s *session) drop(ctx context.Context, reset func() error) error {
	s.mu.Lock()
	if s.stop != nil {
		s.stop(errDropped)
	}
	s.mu.Unlock()
	if err := s.take(ctx); err != nil {
		return err
	}
	defer s.give()
	if err := s.claim(ctx); err != nil {
		return err
	}
	if err := s.discard(); err != nil {
		return err
	}
	if err := s.dropViews(ctx, reset != nil); err != nil {
		s.manager.logger.Warn("what is left of the run's views stays", "run", s.run, "error", err)
	}
	_ = os.RemoveAll(s.dir)
	_ = os.Remove(s.dir + ".lock")
	s.unclaim()
	s.guard, s.meter = nil, nil
	if reset == nil {
		return nil
	}
	return reset()
}

// forget closes the link of a session whose manager ends.
func (s *session) forget() {
	if s.container != nil {
		s.container.link.close()
		s.container = nil
	}
}
