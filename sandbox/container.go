package sandbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/bothyd/bothy/sandbox/toolchain"
)

// ensure has a container that fits the plan, with a runner that answers.
func (s *session) ensure(ctx context.Context, run RunSpec, p *protection) error {
	network, err := s.manager.networkFor(ctx, run)
	if err != nil {
		return err
	}
	tops, err := run.pin()
	if err != nil {
		return err
	}
	defer tops.close()
	if now, err := tops[0].file.Stat(); err != nil || !p.about(now) {
		return fmt.Errorf("the project: %w", errShifted)
	}
	found := s.manager.base.tools.now()
	spec := func(found toolchain.Found) containerSpec {
		return s.manager.base.spec(run, s.limits(run), p, network, s.dir, found)
	}
	if s.container != nil {
		if s.container.spec == spec(found).Labels[labelSpec] && s.container.link.alive() == nil && tops.swapped(s.container.link.places) == nil {
			return nil
		}
		if err := s.discard(); err != nil {
			return err
		}
	}
	inner, err := tops.below(run, p)
	if err != nil {
		return err
	}
	defer inner.close()
	return s.makeWithHome(ctx, run, s.manager.base.tools.look(), func(found toolchain.Found) error { return s.make(ctx, spec(found), tops, inner) })
}

// makeWithHome makes a container with what there is of the person's home, or with less
// where something of it cannot be mounted.
func (s *session) makeWithHome(ctx context.Context, run RunSpec, found toolchain.Found, make func(toolchain.Found) error) error {
	tools := s.manager.base.tools
	var first error
	for reduced := 0; ; reduced++ {
		if err := s.manager.base.prepareHome(run, found); err != nil {
			return err
		}
		err := make(found)
		if err == nil && reduced > 0 {
			tools.reduce(reduced)
			s.manager.logger.Warn("containers are made with less of your home than there is", "error", first)
		}
		h := s.manager.base.home(run, found)
		if err == nil || errors.Is(err, errShifted) || Code(err) == CodeSwapped || ctx.Err() != nil || !answered(err) || len(h.shown)+len(h.caches) == 0 {
			if first != nil && err != nil {
				return first
			}
			return err
		}
		if first == nil {
			first = err
		}
		found = less(found)
	}
}

// make makes a container, with the first OCI runtime that can.
func (s *session) make(ctx context.Context, spec containerSpec, tops, inner pins) error {
	for again := true; ; {
		spec.OCIRuntime = s.manager.podman.runtime()
		plain, neighbour := spec, 0
		if spec.NetNS.Mode == noNetwork.mode {
			neighbour = s.manager.neighbour(s.run)
			spec.share(neighbour)
		}
		c, err := s.create(ctx, spec, tops, inner)
		if err == nil {
			s.container = c
			return nil
		}
		if spec = plain; neighbour != 0 && neighbour != s.manager.neighbour(s.run) && ctx.Err() == nil {
			continue // it ended meanwhile
		}
		if again && runtimeEnded(err) && ctx.Err() == nil {
			again = false
			s.manager.logger.Warn("the OCI runtime ended while it made a container; trying again", "runtime", spec.OCIRuntime, "error", err)
			continue
		}
		if errors.Is(err, errShifted) || Code(err) == CodeSwapped {
			return err
		}
		unsuited := Code(err) == CodeUnavailable
		if ctx.Err() != nil || !answered(err) && !unsuited || !s.manager.podman.nextRuntime(spec.OCIRuntime) {
			if unsuited {
				return err
			}
			return failed("make the run's container", err)
		}
		s.manager.logger.Warn("a container could not be made with this OCI runtime; trying the next", "runtime", spec.OCIRuntime, "error", err)
	}
}

// adopt takes over the container of an earlier manager, if its runner comes
// back; the run is claimed, and the caller has its turn. The runner has killed what was still running by then, and holds how the
// last commands ended: see settle.
func (s *session) adopt(ctx context.Context, c listed, run RunSpec) bool {
	guarded, err := parseMounts(c.Labels[labelMounts])
	if err != nil {
		return false
	}
	socket, err := listen(s.dir)
	if err != nil {
		return false
	}
	l, err := socket.accept(ctx, c.Pid, guarded, silence)
	if err != nil {
		s.manager.logger.Info("a container of an earlier process does not answer", "run", s.run, "error", err)
		return false
	}
	s.container = &container{id: c.ID, pid: c.Pid, spec: c.Labels[labelSpec], link: l}
	s.keep(run)
	return true
}

// discard removes the container, whatever state it is in.
func (s *session) discard() error {
	s.dropAhead() // else the next container would have it for ever
	if s.container == nil {
		return nil
	}
	id := s.container.id
	s.container.link.leave()
	s.container = nil
	if err := s.remove(id); err != nil {
		return failed("remove the run's container", err)
	}
	return nil
}

// remove removes a container, also when the call that it was made for has ended.
func (s *session) remove(id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), apiTimeout)
	defer cancel()
	return s.manager.remove(ctx, id)
}

func (s *session) removeQuietly(id string) {
	if err := s.remove(id); err != nil {
		s.manager.logger.Warn("cannot remove a container that did not start", "container", id, "error", err)
	}
}
