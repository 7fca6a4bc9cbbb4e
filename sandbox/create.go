package sandbox

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/containers/podman/v5/pkg/errorhandling"
)

// create makes and starts a container and waits for its runner, which says what
// the container was made of.
func (s *session) create(ctx context.Context, spec containerSpec, tops, inner pins) (_ *container, err error) {
	guarded, err := parseMounts(spec.Labels[labelMounts])
	if err != nil {
		return nil, err
	}
	socket, err := listen(s.dir)
	if err != nil {
		return nil, err
	}
	defer socket.close()
	if s.manager.beforeMount != nil {
		s.manager.beforeMount()
	}
	id, warnings, err := s.createNamed(ctx, spec)
	if err != nil {
		return nil, err
	}
	s.manager.warn(warnings)
	defer func() {
		if err != nil {
			s.removeQuietly(id)
		}
	}()
	if err := s.manager.podman.call(ctx, func(a *api) error { return a.start(ctx, id) }); err != nil {
		return nil, err
	}
	state, err := s.manager.inspect(ctx, id)
	if err != nil {
		return nil, err
	}
	l, err := socket.accept(ctx, state.State.Pid, guarded, 10*time.Second)
	if err != nil {
		return nil, err
	}
	if err = s.manager.podman.filtered(l.filters); err == nil {
		err = tops.swapped(l.places)
	}
	if err == nil {
		err = inner.shifted(l.places)
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return &container{id: id, pid: state.State.Pid, spec: spec.Labels[labelSpec], link: l}, nil
}

// createNamed creates the container; one of the same name is a leftover.
func (s *session) createNamed(ctx context.Context, spec containerSpec) (string, []string, error) {
	var id string
	var warnings []string
	create := func(a *api) (err error) {
		id, warnings, err = a.create(ctx, spec)
		return err
	}
	var err error
	for range 3 {
		if err = s.manager.podman.call(ctx, create); !idsMissed(err) {
			break
		}
	}
	if nameTaken(err) {
		if err := s.manager.remove(ctx, spec.Name); err != nil {
			return "", nil, err
		}
		err = s.manager.podman.call(ctx, create)
	}
	return id, warnings, err
}

// idsMissed says that Podman did not find the user's subordinate ids, which it
// had found when it was looked for: two requests at once may read them with a
// library that is not made for that.
func idsMissed(err error) bool {
	return err != nil && strings.Contains(err.Error(), "keep-id requires additional UIDs or GIDs")
}

// runtimeEnded says that a process of runc ended before there was a container, which it says
// nothing about: on a busy machine one of some thousand containers meets it. No command has run.
func runtimeEnded(err error) bool {
	return err != nil && strings.Contains(err.Error(), "can't get final child's PID from pipe")
}

func nameTaken(err error) bool {
	model, ok := errors.AsType[*errorhandling.ErrorModel](err)
	return ok && (model.ResponseCode == http.StatusConflict || strings.Contains(model.Message, "already in use"))
}
