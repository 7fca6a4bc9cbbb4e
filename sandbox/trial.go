package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"
)

// commandFinding has a command run as a run's commands do: in a container, on a view of
// the project. The command changes nothing, and what it takes is made in folders that go.
func commandFinding(ctx context.Context, cfg Config, project string, logger hclog.Logger) Finding {
	f := Finding{Name: "command", Level: LevelOK}
	began := time.Now()
	r, err := tryCommand(ctx, cfg, project, logger)
	switch e, known := errors.AsType[*Error](err); {
	case known:
		f.Level, f.Detail, f.Hint = LevelFail, (&Error{Message: e.Message, Err: e.Err}).Error(), e.Hint
	case err != nil:
		f.Level, f.Detail = LevelFail, err.Error()
	case r.Viewed:
		f.Detail = fmt.Sprintf("one ran in a container, on a view of %s that was mounted when the container was there; with Podman's start it took %.1f s. "+
			"Tried were a rename from the view's folder into the project, mounts in the project, and whether Bothy's data lie in it or around it", project, time.Since(began).Seconds())
	default:
		f.Level, f.Detail = LevelWarn, "commands work on "+project+" itself, not on a view of it: "+r.Direct
		f.Hint = "see \"Where no copy is possible\" in docs/sandbox.md for what is so then"
	}
	return f
}

func tryCommand(ctx context.Context, cfg Config, project string, logger hclog.Logger) (_ Result, err error) {
	at, remove, err := cfg.apart()
	if err != nil {
		return Result{}, failed("make folders to try a command in", err)
	}
	defer remove()
	at.Instance, at.Judge, at.Lock = fmt.Sprintf("doctor-%d", os.Getpid()), nil, nil
	m, err := Open(ctx, at, logger)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, m.closeTrial(context.WithoutCancel(ctx))) }()
	run := RunSpec{RunID: "doctor", Project: project, RunDir: filepath.Join(at.StateDir, "run")}
	if err := os.Mkdir(run.RunDir, 0o700); err != nil {
		return Result{}, failed("make folders to try a command in", err)
	}
	r, err := m.Exec(ctx, run, Command{Argv: []string{"true"}}, func(int, []byte) {})
	if err == nil && r.ExitCode != 0 {
		err = failed(fmt.Sprintf("a command that does nothing ended with exit status %d", r.ExitCode), nil)
	}
	return r, err
}

// closeTrial closes a manager and removes what its Podman has stored: layers that belong to
// other ids of the user's are removed where Podman made them.
func (m *Manager) closeTrial(ctx context.Context) error {
	if err := m.Close(ctx); err != nil || m.podman.own == nil {
		return err
	}
	v, err := startViewer(ctx, m.podman.own, m.cfg, m.logger)
	if err != nil {
		return err
	}
	defer m.podman.own.endPause()
	defer v.close()
	return v.remove(ctx, m.cfg.StateDir)
}
