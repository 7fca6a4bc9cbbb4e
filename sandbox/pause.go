package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// wake has Podman make its pause process, without which the service would be two
// processes, the second of which does not die with us. First runs a command of Podman's
// that makes it and is wanted anyway; it is not waited for longer than that takes. When it
// fails, Podman is asked something, and says what is wrong with it.
func (s *service) wake(ctx context.Context, first func() error) error {
	begun := make(chan error, 1)
	go func() { begun <- first() }()
	for s.pausePID() == 0 {
		select {
		case err := <-begun:
			if err != nil {
				_, err = s.ask(ctx, "ps", "--quiet")
			}
			return err
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// endIdlePause ends the pause process after a mere question, unless a manager
// has the directory and needs it.
func (s *service) endIdlePause() {
	lock, err := os.OpenFile(filepath.Join(s.dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return
	}
	defer lock.Close()
	if lockFile(lock) == nil {
		s.endPause()
	}
}

func (s *service) endPause() {
	if pid := s.pausePID(); pid != 0 {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		_ = os.Remove(s.pauseFile())
	}
}

// pauseFile is the file that has the pid of Podman's pause process.
func (s *service) pauseFile() string { return filepath.Join(s.dir, "x", "libpod", "tmp", "pause.pid") }

// pausePID is that pid while the process lives, or 0.
func (s *service) pausePID() int {
	pid := pidIn(s.pauseFile())
	args := commandLine(pid)
	if pid == 0 || len(args) == 0 || !strings.Contains(filepath.Base(args[0]), "podman") && !strings.Contains(args[0], "catatonit") {
		return 0
	}
	return pid
}
