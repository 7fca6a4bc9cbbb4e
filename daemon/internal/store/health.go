package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/bothyd/bothy/sdk"
)

// ErrFailed is in the chain of what Alarm is told and Health says once the disk
// failed in a write or in making one durable: this process writes nothing more
// (ADR 0073).
var ErrFailed = errors.New("look for disk errors in the system log")

// trouble is why the last write was refused.
type trouble struct {
	err error
	how persistence
}

// persistence says what ends a trouble.
type persistence int

const (
	passing persistence = iota // the next write that goes through: each is tried
	away                       // the file that is back under its name, which each write looks for
	lasting                    // a new start at the earliest: no write is tried
)

// Health returns nil, or why the store takes no writes: damage, a file that
// was replaced under it, a disk that failed (ErrFailed). Reading works as far
// as the file can be read.
func (s *Store) Health() error {
	if t := s.trouble.Load(); t != nil && t.how > passing {
		return t.err
	}
	return nil
}

// Refused returns nil, or why the last write was refused: what Health says, or
// what may pass by itself, such as a full disk. Each write is tried all the same
// then, and the first that goes through ends it.
func (s *Store) Refused() error {
	if t := s.trouble.Load(); t != nil {
		return t.err
	}
	return nil
}

// refuse keeps why writes are refused, and sounds the alarm where it is news.
// What is worse stays.
func (s *Store) refuse(how persistence, err error) {
	before := s.trouble.Load()
	if before != nil && before.how > how {
		return
	}
	s.trouble.Store(&trouble{err, how})
	if before == nil || before.how == passing && how > passing {
		s.log.Error("the store takes no writes", "path", s.path, "error", err)
		s.alarm(err)
	}
}

// accept notes that a write went through.
func (s *Store) accept() {
	if s.trouble.Swap(nil) != nil {
		s.log.Info("the store takes writes again", "path", s.path)
	}
}

// ready refuses a write that must not be tried. Whether a file that was gone is
// back, the commit looks.
func (s *Store) ready() error {
	if s.closing.Err() != nil {
		return errClosed
	}
	if t := s.trouble.Load(); t != nil && t.how == lasting {
		return t.err
	}
	return nil
}

// afterFailure deals with what a failed transaction says of the file.
func (s *Store) afterFailure(err error) {
	switch {
	case lacksRoom(err, s.path):
		s.refuse(passing, explain("writing to "+s.path, err))
	case isFailedWrite(err):
		s.refuse(lasting, sdk.Errorf(sdk.Unavailable, "the disk failed, so nothing more is written to %s; %w", s.path, fmt.Errorf("%w: %w", ErrFailed, err)))
	case isDamage(err):
		s.refuse(lasting, s.readOnly(err))
	}
}

// noRoom tries whether a file beside the database may grow as far as that has:
// SQLite says of a quota and of a limit to files what it says of a broken disk.
func noRoom(path string) bool {
	var end int64
	for _, p := range []string{path, path + "-wal"} {
		if info, err := os.Stat(p); err == nil {
			end = max(end, info.Size())
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".room-*")
	if err == nil {
		_, err = f.WriteAt(make([]byte, 64<<10), end)
		_, _ = f.Close(), os.Remove(f.Name())
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// readOnly says what can still be done with a damaged database.
func (s *Store) readOnly(err error) error {
	return sdk.Errorf(sdk.Unavailable, "%w. Nothing more is written to it; what can be read of it is still shown (bothy runs list, bothy runs show). "+
		"To go on: bothy stop, then bothy restore FILE, which keeps this file aside; backups lie in %s", err, BackupDir(s.path))
}

// watched are the endings of the files that the connections have: the database and
// its write-ahead log.
var watched = [...]string{"", "-wal"}

// lookAtFiles takes down which files those are.
func lookAtFiles(path string) (seen [len(watched)]fs.FileInfo, err error) {
	for i, ending := range watched {
		seen[i], err = os.Stat(path + ending)
		if err != nil && (ending == "" || !errors.Is(err, fs.ErrNotExist)) { // SQLite has the log made by its first transaction at the latest
			return seen, fmt.Errorf("looking at the database: %w", err)
		}
	}
	return seen, nil
}

// checkFiles refuses to commit into a file that is no longer there under its
// name: what is written to it would be gone with this process. It costs a stat
// for each file.
func (s *Store) checkFiles() error {
	for i, opened := range s.files {
		path := s.path + watched[i]
		info, err := os.Stat(path)
		if opened == nil || err == nil && os.SameFile(info, opened) {
			continue
		}
		what := "replaced"
		if err != nil {
			what = "deleted or moved"
		}
		err = sdk.Errorf(sdk.Unavailable, "%s was %s while the daemon had it open, so nothing more is written. What was written can still be read: "+
			"save it now with bothy backup FILE, then bothy stop and bothy restore FILE", path, what)
		s.refuse(away, err)
		return err
	}
	return nil
}
