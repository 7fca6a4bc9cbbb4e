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
// failed in a write or in making one durable. Nothing more is written by this
// process: the kernel may have dropped what an fsync failed on, and would say of
// the next one that all is well. Only a new process opens the file again.
var ErrFailed = errors.New("look for disk errors in the system log")

// trouble is why no writes are taken.
type trouble struct {
	err     error
	lasting bool // a new start at the earliest mends it
}

// Health returns nil, or why the store takes no writes: damage, a file that
// was replaced under it, a disk that failed (ErrFailed). Reading works as far
// as the file can be read.
func (s *Store) Health() error {
	if t := s.trouble.Load(); t != nil {
		return t.err
	}
	return nil
}

// Refused returns nil, or why the last write was refused: what Health says, or
// what may pass by itself, such as a full disk. Each write is tried all the same
// then, and the first that goes through ends it.
func (s *Store) Refused() error {
	if err := s.Health(); err != nil {
		return err
	}
	if err := s.refused.Load(); err != nil {
		return *err
	}
	return nil
}

// refuse keeps what refused a write, and sounds the alarm where it is news.
func (s *Store) refuse(err error) {
	err = explain("writing to "+s.path, err)
	if s.refused.Swap(&err) == nil && s.Health() == nil {
		s.log.Error("the store cannot write", "path", s.path, "error", err)
		s.alarm(err)
	}
}

// accept notes that a write went through.
func (s *Store) accept() {
	if s.refused.Load() != nil && s.refused.Swap(nil) != nil {
		s.log.Info("the store can write again", "path", s.path)
	}
}

// setTrouble keeps why no writes are taken, or with nil that they are, and
// sounds the alarm where it is news.
func (s *Store) setTrouble(t *trouble) {
	before := s.trouble.Swap(t)
	switch {
	case t == nil && before != nil:
		s.log.Info("the store takes writes again", "path", s.path)
	case t != nil && before == nil:
		s.log.Error("the store takes no writes", "path", s.path, "error", t.err)
		s.alarm(t.err)
	}
}

// ready refuses a write that must not be tried. Whether a file that was gone is
// back, the commit looks.
func (s *Store) ready() error {
	if s.closing.Err() != nil {
		return errClosed
	}
	if t := s.trouble.Load(); t != nil && t.lasting {
		return t.err
	}
	return nil
}

// afterFailure deals with what a failed transaction says of the file.
func (s *Store) afterFailure(err error) {
	switch {
	case lacksRoom(err, s.path):
		s.refuse(err)
	case isFailedWrite(err):
		s.setTrouble(&trouble{lasting: true, err: sdk.Errorf(sdk.Unavailable, "the disk failed, so nothing more is written to %s; %w", s.path, fmt.Errorf("%w: %w", ErrFailed, err))})
	case isDamage(err):
		s.setTrouble(&trouble{err: s.readOnly(err), lasting: true})
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
		"To go on: bothy stop, then bothy restore FILE, which keeps this file aside; backups lie in %s", err, filepath.Join(filepath.Dir(s.path), "backups"))
}

// seenFile is a file as it was when it was opened.
type seenFile struct {
	path string
	info fs.FileInfo
}

// lookAtFiles takes down which files the connections have: the database and
// its write-ahead log.
func lookAtFiles(path string) ([]seenFile, error) {
	var seen []seenFile
	for _, p := range []string{path, path + "-wal"} {
		info, err := os.Stat(p)
		if errors.Is(err, fs.ErrNotExist) && p != path {
			continue // SQLite has it made by its first transaction at the latest
		}
		if err != nil {
			return nil, fmt.Errorf("looking at the database: %w", err)
		}
		seen = append(seen, seenFile{p, info})
	}
	return seen, nil
}

// checkFiles refuses to commit into a file that is no longer there under its
// name: what is written to it would be gone with this process. It costs a stat
// for each file.
func (s *Store) checkFiles() error {
	err := s.sameFiles()
	switch {
	case err != nil:
		s.setTrouble(&trouble{err: err})
	case s.trouble.Load() != nil:
		s.setTrouble(nil) // it is back
	}
	return err
}

func (s *Store) sameFiles() error {
	for _, f := range s.files {
		info, err := os.Stat(f.path)
		if err == nil && os.SameFile(info, f.info) {
			continue
		}
		what := "replaced"
		if err != nil {
			what = "deleted or moved"
		}
		return sdk.Errorf(sdk.Unavailable, "%s was %s while the daemon had it open, so nothing more is written. What was written can still be read: "+
			"save it now with bothy backup FILE, then bothy stop and bothy restore FILE", f.path, what)
	}
	return nil
}
