package sandbox

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
)

// openName is the file that says that a manager has the directory, or had it
// and died: what it leaves behind is containers, and Podman's processes.
const openName = "open"

// mark says that something may be left from now on.
func (m *Manager) mark() error {
	path := filepath.Join(m.cfg.Dir, openName)
	_, err := os.Lstat(path)
	if err == nil {
		return nil
	}
	m.unmarked = true // by who opens it in vain: an earlier manager left nothing
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return failed("mark the sandbox directory", err)
	}
	return nil
}

func (m *Manager) unmark() { _ = os.Remove(filepath.Join(m.cfg.Dir, openName)) }

// takeOverTime is how long a manager that finds something left goes on to deal with it
// once whoever opened it gave up. A plugin that is stopped has a little longer.
const takeOverTime = 3 * time.Second

// outliving is a context that ends a while after another one.
func outliving(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		select {
		case <-ctx.Done():
		case <-longer.Done():
		}
		select {
		case <-time.After(by):
			cancel()
		case <-longer.Done():
		}
	}()
	return longer, cancel
}

// Left says whether a manager with this [Config.Dir] died and left something:
// [Open] takes it over or removes it. It asks the file system alone, so that
// nobody has to start Podman to learn that nothing is left. Busy says that a
// manager has the directory now; what it will leave is not known yet.
func Left(dir string) (left, busy bool) {
	if _, err := os.Lstat(filepath.Join(dir, openName)); err != nil {
		return false, false
	}
	lock, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR, 0)
	if err != nil {
		return true, false
	}
	defer func() { _ = lock.Close() }()
	if lockFile(lock) != nil {
		return false, true
	}
	return true, false
}

// takeOver adopts the containers of an earlier manager: those whose runner
// comes back are kept, the rest is removed, half-made ones too.
func (m *Manager) takeOver(ctx context.Context) {
	found, err := m.ours(ctx)
	if err != nil {
		m.logger.Warn("cannot look for containers of an earlier process", "error", err)
		return
	}
	var group errgroup.Group
	for _, c := range found {
		group.Go(func() error {
			m.takeOverOne(ctx, c)
			return nil
		})
	}
	_ = group.Wait()
}

func (m *Manager) takeOverOne(ctx context.Context, c listed) {
	id := c.Labels[labelRun]
	if ValidRunID(id) != nil {
		m.removeLeft(ctx, c)
		return
	}
	if c.Labels[labelBase] == baseBackground {
		m.removeBackground(ctx, c)
		return
	}
	s := m.session(id)
	if s.take(ctx) != nil {
		return
	}
	defer s.give()
	if s.container == nil && s.tryClaim() {
		m.takeOverClaimed(ctx, s, c)
	} // else it is another manager's, or a call was faster
}

// takeOverClaimed adopts or removes a container of a run that is this manager's
// own.
func (m *Manager) takeOverClaimed(ctx context.Context, s *session, c listed) {
	if m.adoptable(c) && s.adopt(ctx, c, RunSpec{RunID: s.run, RunDir: c.Labels[labelRunDir]}) {
		m.logger.Info("took over a container", "run", s.run)
		return
	}
	m.removeLeft(ctx, c)
}

// removeBackground removes the container of a background command of a manager that died.
// What it wrote is removed with the views.
func (m *Manager) removeBackground(ctx context.Context, c listed) {
	dir := filepath.Join(m.cfg.Dir, "s", key(c.Labels[labelRun]))
	lock, err := holdFile(dir + ".lock")
	if err != nil {
		return // another manager's
	}
	m.removeLeft(ctx, c)
	_ = os.RemoveAll(dir)
	_ = os.Remove(dir + ".lock")
	_ = lock.Close()
}

func (m *Manager) removeLeft(ctx context.Context, c listed) {
	id := c.Labels[labelRun]
	m.logger.Info("removing a container of an earlier process", "run", id, "container", c.ID)
	if err := m.remove(ctx, c.ID); err != nil {
		m.logger.Warn("cannot remove a container of an earlier process", "container", c.ID, "error", err)
	}
}

// adoptable says whether a container can serve a run of this manager: it runs,
// its run is still there, and it was made of what would make one today. What a project adds is compared when the run's
// next command comes.
func (m *Manager) adoptable(c listed) bool {
	dir := c.Labels[labelRunDir]
	if c.State != "running" || c.Pid <= 0 || ValidRunID(c.Labels[labelRun]) != nil || !filepath.IsAbs(dir) {
		return false
	}
	if _, err := os.Lstat(dir); err != nil {
		return false
	}
	var limits Limits
	if json.Unmarshal([]byte(c.Labels[labelLimits]), &limits) != nil {
		return false
	}
	return c.Labels[labelBase] == m.base.hash(limits)
}
