package sandbox

import (
	"context"
	"errors"
)

// Prepared is what is known of a run's place that was made ready.
type Prepared struct {
	// View says that commands of the run work on a copy of the project.
	View bool
	// Reason says why they do not, where they could.
	Reason string
}

// Prepare makes the run's container when there is none that fits, so that the
// next command finds it. A command that comes meanwhile waits for it. When ctx
// ends before, nothing is left of what was begun.
func (m *Manager) Prepare(ctx context.Context, run RunSpec) (Prepared, error) {
	if err := run.check(); err != nil {
		return Prepared{}, err
	}
	if err := m.enter(); err != nil {
		return Prepared{}, err
	}
	defer m.active.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(m.life, func() { cancel(errClosed) })()
	return m.session(run.RunID).prepare(ctx, run)
}

func (s *session) prepare(ctx context.Context, run RunSpec) (Prepared, error) {
	ctx, end, err := s.begin(ctx, run)
	if err != nil {
		return Prepared{}, err
	}
	defer end()
	way := s.manager.views.way(ctx, run)
	for range attempts {
		if err = s.prepareOnce(ctx, run, way); !errors.Is(err, errShifted) {
			break
		}
	}
	return Prepared{View: way.reason == "", Reason: way.reason}, cause(ctx, err)
}

// prepareOnce is attempt without a command. What it finds in the place of a
// mount is told by the command that comes next.
func (s *session) prepareOnce(ctx context.Context, run RunSpec, way *viewWay) error {
	if way.reason == "" {
		run, err := s.readyForView(ctx, run, way, true) // somebody may still ask about the last command
		if err == nil {
			s.behind = func() { s.mountAhead(run, way) }
		}
		return err
	}
	if run.Project == "" {
		return s.ensure(ctx, run, &protection{})
	}
	g, err := s.guard.projects.enter(ctx, run)
	if err != nil {
		return err
	}
	defer g.leave()
	if err = s.ensure(ctx, run, g.protection); Code(err) == CodeSwapped {
		s.pending = s.swapped(err)
	}
	return err
}
