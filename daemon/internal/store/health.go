package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// trouble is why no writes are taken.
type trouble struct {
	err     error
	lasting bool // only a person mends it, and a new start sees that
	io      bool // the disk failed; the next write that is due opens the file anew
}

// Health returns nil, or why the store takes no writes: damage, a file that
// was replaced under it, a disk that failed and with which it could not go on
// yet. Reading works as far as the file can be read.
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

// ready refuses a write that must not be tried. After a failure of the disk it
// is the place where the file is opened anew, when that is due.
func (s *Store) ready() error {
	t := s.trouble.Load()
	switch {
	case t == nil:
		return nil
	case t.lasting:
		return t.err
	case t.io && s.retry.waits():
		return t.err
	case t.io:
		return s.mend()
	}
	return nil // the commit looks whether the file is back
}

// afterFailure deals with what a failed transaction says of the file, and
// reports whether the file has the transaction all the same.
func (s *Store) afterFailure(err error, reached position) bool {
	switch {
	case isInputOutput(err):
		s.setTrouble(&trouble{err: explain("writing to "+s.path, err), io: true})
		return s.mend() == nil && reached.seq > 0 && s.head == reached
	case isDamage(err):
		s.setTrouble(&trouble{err: s.readOnly(err), lasting: true})
	case isRefusal(err):
		s.refuse(err)
	}
	return false
}

// mend closes everything and opens the database from the file. An fsync that
// failed is never asked again on what was open: the kernel may have dropped the
// pages and would say that all is well. Only after the write-ahead log was
// copied into the file as a whole, and the last rows verify, are writes taken.
func (s *Store) mend() error {
	s.copying.cancel()
	s.gate.Lock()
	defer s.gate.Unlock()
	err := s.reopen()
	switch {
	case err == nil:
		s.retry = backoff{}
		s.setTrouble(nil)
		s.announce(s.head.seq)
		return nil
	case isDamage(err):
		err = s.readOnly(err)
		s.setTrouble(&trouble{err: err, lasting: true})
	default:
		s.retry.fail()
		err = sdk.Errorf(sdk.Unavailable, "the disk failed and %s could not be opened anew yet, so nothing is written; look for disk errors in the system log: %w", s.path, err)
		s.setTrouble(&trouble{err: err, io: true})
	}
	return err
}

func (s *Store) reopen() error {
	if err := s.sameFiles(s.files[:1]); err != nil {
		return err // another file: nothing of it is ours to open
	}
	if err := s.disconnect(); err != nil {
		s.log.Warn("closing the database after a disk failure", "error", err)
	}
	ctx := context.Background() // no caller's patience decides whether the file is whole
	s.stale = true
	if err := s.connectWriter(ctx); err != nil {
		return err
	}
	if err := s.connectReaders(); err != nil {
		return err
	}
	var busy, pages, copied int
	if err := s.conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &copied); err != nil {
		return explain("copying the write-ahead log into the database", err)
	}
	if busy != 0 {
		return errors.New("another program reads the database, so its write-ahead log cannot be ended")
	}
	if err := s.verify(ctx, verifiedAtOpen); err != nil {
		return err
	}
	return s.loadHead()
}

// readOnly says what can still be done with a damaged database.
func (s *Store) readOnly(err error) error {
	return sdk.Errorf(sdk.Unavailable, "%w. Nothing more is written to it; what can be read of it is still shown (bothy runs list, bothy runs show). "+
		"To go on: bothy stop, then bothy restore FILE, which keeps this file aside; backups lie in %s", err, filepath.Join(filepath.Dir(s.path), "backups"))
}

// backoff spaces the tries to open the file anew.
type backoff struct {
	next time.Time
	wait time.Duration
}

// The first try after a failure comes at once, with the write that met it.
const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = 5 * time.Second
)

func (b *backoff) waits() bool { return time.Now().Before(b.next) }

func (b *backoff) fail() {
	b.wait = min(max(2*b.wait, firstRetry), lastRetry)
	b.next = time.Now().Add(b.wait)
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
	err := s.sameFiles(s.files)
	switch {
	case err != nil:
		s.setTrouble(&trouble{err: err})
	case s.trouble.Load() != nil:
		s.setTrouble(nil) // it is back
	}
	return err
}

func (s *Store) sameFiles(files []seenFile) error {
	for _, f := range files {
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
