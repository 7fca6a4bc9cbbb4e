package sandbox

import (
	"context"
	_ "embed"
	"path/filepath"
)

//go:embed seccomp.json
var seccompProfile []byte

// makeBase prepares what all containers share.
func (m *Manager) makeBase(ctx context.Context) error {
	runner, err := hashFile(m.cfg.Runner)
	if err != nil {
		return unavailable("the runner for containers is missing", "reinstall Bothy (make install), or set BOTHY_PREFIX to where it is", err)
	}
	seccomp := filepath.Join(m.cfg.Dir, "seccomp-"+hashBytes(seccompProfile)+".json")
	if err := writeOnce(seccomp, seccompProfile); err != nil {
		return failed("write the seccomp profile", err)
	}
	m.base = base{
		image: m.cfg.Image, seccomp: seccomp, runner: m.cfg.Runner, runnerHash: runner,
		instance: m.cfg.Instance, hard: hardLimits(),
	}
	if m.cfg.Image != "" {
		return m.needImage(ctx)
	}
	m.base.tools = newHomeTools(m.cfg.Tools)
	if err := m.base.makeNothing(m.cfg.Dir); err != nil {
		return failed("make the files that hide others", err)
	}
	if config := m.cfg.Identity.config(); config != "" {
		m.base.git = filepath.Join(m.cfg.Dir, "gitconfig-"+hashBytes([]byte(config)))
		if err := writeOnce(m.base.git, []byte(config)); err != nil {
			return failed("write who git says wrote something", err)
		}
	}
	s, err := makeSkeleton("/")
	if err != nil {
		return failed("make the base image", err)
	}
	m.base.image, m.base.skeleton, m.base.mounts = s.tag, true, s.mounts
	return m.podman.call(ctx, func(a *api) error {
		there, err := a.imageExists(ctx, s.tag)
		if err == nil && !there {
			err = a.importImage(ctx, s.tag, s.tar)
		}
		if err != nil {
			return failed("make the base image", err)
		}
		return nil
	})
}

func (m *Manager) needImage(ctx context.Context) error {
	return m.podman.call(ctx, func(a *api) error {
		there, err := a.imageExists(ctx, m.cfg.Image)
		if err != nil {
			return failed("look for the image", err)
		}
		if !there {
			where := ""
			if m.podman.own != nil {
				where = "; Bothy's own Podman keeps its images apart: set sandbox.socket to the service that has it"
			}
			return unavailable("the image "+m.cfg.Image+" is not there, and images are not fetched during a run", "pull it with podman first"+where, nil)
		}
		return nil
	})
}
