package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Several managers may share a directory for as long as one ends the commands that it
// runs while another takes the next ones: each has a Podman service of its own over the same storage, each
// run belongs to one of them, and commands in one project run under one of them
// at a time. What ends with the last manager is known by locks, which the kernel
// drops when a process dies:
//
//	lock        shared by all managers of the directory
//	service.N   of a manager: its number, after which its socket is named
//	s/KEY.lock  of the manager that has the run
//	p/KEY.lock  of the manager whose commands run in the project

// pause is how long to wait between two looks at a lock.
const pause = 20 * time.Millisecond

// mostManagers is how many may share a directory.
const mostManagers = 10

// errHeld is of a lock that somebody else holds.
var errHeld = errors.New("another process has it")

// holdFile locks a file that is made when it is missing, and removed by who is
// done with it: the lock counts while the path leads to it.
func holdFile(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		if err := lockFile(f); err != nil {
			_ = f.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				return nil, errHeld
			}
			return nil, err
		}
		mine, mineErr := f.Stat()
		there, thereErr := os.Lstat(path)
		if mineErr == nil && thereErr == nil && os.SameFile(mine, there) {
			return f, nil
		}
		_ = f.Close()
		if thereErr != nil && !errors.Is(thereErr, fs.ErrNotExist) {
			return nil, thereErr
		}
	}
}

// awaitFile is holdFile as soon as nobody else holds it.
func awaitFile(ctx context.Context, path string) (*os.File, error) {
	for {
		f, err := holdFile(path)
		if !errors.Is(err, errHeld) {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// takeNumber takes the lowest number that no manager of the directory has.
func (m *Manager) takeNumber() error {
	for n := range mostManagers {
		f, err := holdFile(m.numberFile(n))
		if errors.Is(err, errHeld) {
			continue
		}
		if err != nil {
			return failed("take a place in the sandbox directory", err)
		}
		m.cfg.number, m.place = n, f
		return nil
	}
	return unavailable(fmt.Sprintf("%d processes use the sandbox directory %s", mostManagers, m.cfg.Dir), "wait until one has finished", nil)
}

func (m *Manager) numberFile(n int) string {
	return filepath.Join(m.cfg.Dir, fmt.Sprintf("service.%d", n))
}

// shared reports whether another manager has the directory too.
func (m *Manager) shared() bool {
	for n := range mostManagers {
		if n == m.cfg.number {
			continue
		}
		if _, err := os.Lstat(m.numberFile(n)); err != nil {
			continue
		}
		f, err := holdFile(m.numberFile(n))
		if errors.Is(err, errHeld) {
			return true
		}
		if err == nil {
			_ = f.Close()
		}
	}
	return false
}

// claim makes the run this manager's own, when no other manager has it any more.
// Who has the turn calls it. A container of one that died is taken over.
func (s *session) claim(ctx context.Context) error {
	if s.lock != nil {
		return nil
	}
	_, err := os.Lstat(s.dir)
	known := err == nil // it had a container once
	if err := os.MkdirAll(filepath.Dir(s.dir), 0o700); err != nil {
		return failed("claim the run", err)
	}
	lock, err := awaitFile(ctx, s.dir+".lock")
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		return failed("claim the run", err)
	}
	s.lock = lock
	if !known || s.container != nil {
		return nil
	}
	found, err := s.manager.ours(ctx)
	if err != nil {
		s.unclaim()
		return cause(ctx, err)
	}
	for _, c := range found {
		if c.Labels[labelRun] == s.run {
			s.manager.takeOverClaimed(ctx, s, c)
		}
	}
	return nil
}

// tryClaim is claim for a run that nobody else has; whoever has the turn has it.
func (s *session) tryClaim() bool {
	if s.lock != nil {
		return true
	}
	if os.MkdirAll(filepath.Dir(s.dir), 0o700) != nil {
		return false
	}
	lock, err := holdFile(s.dir + ".lock")
	s.lock = lock
	return err == nil
}

func (s *session) unclaim() {
	if s.lock != nil {
		_ = s.lock.Close()
		s.lock = nil
	}
}

// Release gives a run up for another manager of the same directory, which waits for it
// with its next command of the run. A command that runs ends first; the container goes.
// The home stays, and so does what waits for a person's answer. Who still reads
// [Change.Old] of the run's last result must not call it.
func (m *Manager) Release(ctx context.Context, runID string) error {
	if err := ValidRunID(runID); err != nil {
		return err
	}
	if err := m.enter(); err != nil {
		return err
	}
	defer m.active.Done()
	m.mu.Lock()
	s := m.sessions[runID]
	m.mu.Unlock()
	if s == nil {
		return nil
	}
	if err := s.take(ctx); err != nil {
		return err
	}
	defer s.give()
	if s.lock == nil {
		return nil
	}
	err := s.discard()
	s.dropLate() // what is written down is told by who finds it
	if err == nil {
		_ = os.RemoveAll(s.dir)
	}
	s.guard, s.meter = nil, nil
	s.unclaim() // in any case: who has the run next finds a container that stayed by its label
	return err
}

// outlast takes over what is left when no other manager has the directory any more: one
// of them may have died.
func (m *Manager) outlast() {
	for m.shared() {
		select {
		case <-m.life.Done():
			return
		case <-time.After(5 * pause):
		}
	}
	m.takeOver(m.life)
}
