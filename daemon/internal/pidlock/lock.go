// Package pidlock keeps two daemons apart: a lock on a file that says whose it is.
package pidlock

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Lock is a flock on a file. The kernel drops it when the process ends in
// whatever way, so there is no stale lock to clear.
type Lock struct {
	path string
	file *os.File
}

// HeldError says that another process holds the lock. PID is 0 when the holder
// has not written it yet.
type HeldError struct {
	Path string
	PID  int
}

// Holder is the process that holds the lock, in words.
func (e *HeldError) Holder() string {
	if e.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d", e.PID)
}

func (e *HeldError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("another bothyd holds %s", e.Path)
	}
	return fmt.Sprintf("another bothyd is running (pid %d holds %s): use it, or end it with `bothy stop`", e.PID, e.Path)
}

// afterDeath is how long the lock may outlive a holder that was killed: what it
// was about to execute holds the open file until then.
const afterDeath = 2 * time.Second

// Take takes the lock at path or fails with a *HeldError; it never waits
// for a holder that lives. The file holds the holder's pid and stays when the
// lock is released: removing it would let two processes lock two files of one
// name.
func Take(path string) (*Lock, error) {
	for begin := time.Now(); ; {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_CLOEXEC|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, fmt.Errorf("lock file: %w", err)
		}
		if err := flock(f); err != nil {
			_ = f.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				pid := holder(path)
				if pid == 0 && time.Since(begin) < afterDeath {
					continue
				}
				return nil, &HeldError{Path: path, PID: pid}
			}
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		l := &Lock{path: path, file: f}
		if !l.Current() {
			_ = f.Close() // the file was replaced between open and lock
			continue
		}
		if err := l.write(strconv.Itoa(os.Getpid()) + "\n"); err != nil {
			_ = f.Close()
			return nil, err
		}
		return l, nil
	}
}

func flock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// Release gives the lock up.
func (l *Lock) Release() error {
	return errors.Join(l.write(""), l.file.Close())
}

// Current reports whether the locked file is still the one at its path.
func (l *Lock) Current() bool {
	ours, err := l.file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(l.path)
	return err == nil && os.SameFile(ours, there)
}

func (l *Lock) write(text string) error {
	if err := l.file.Truncate(0); err != nil {
		return fmt.Errorf("lock file %s: %w", l.path, err)
	}
	if _, err := l.file.WriteAt([]byte(text), 0); err != nil {
		return fmt.Errorf("lock file %s: %w", l.path, err)
	}
	return nil
}

// alive reports whether there is a process of that pid, whoever's it is.
func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// holder reads the pid of the process that holds the lock. The holder writes
// it right after locking, so a file that is empty, or that names the holder
// before it, which was killed, is looked at a few times.
func holder(path string) int {
	for range 20 {
		text, err := os.ReadFile(path)
		if pid, bad := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && bad == nil && alive(pid) {
			return pid
		}
		time.Sleep(5 * time.Millisecond)
	}
	return 0
}
