package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/bothyd/bothy/daemon/internal/durable"
	"github.com/bothyd/bothy/sdk"
)

// Restored says what Restore has done.
type Restored struct {
	Report        // of what is in place now
	Aside  string // where the database lies that was there before; empty when there was none
}

// Restore puts a copy of the database at from in the place of the one at to,
// while no daemon runs (Conflict, naming the pid, when one does). The copy is
// verified as a whole before anything is touched. The present database is moved
// aside under a dated name, and never deleted. A process that dies in between
// leaves the old one or the new one under the name.
func Restore(ctx context.Context, from, to string) (done Restored, err error) {
	if to, err = realPath(to); err != nil {
		return done, err
	}
	if from, err = filepath.Abs(from); err != nil {
		return done, fmt.Errorf("finding the backup: %w", err)
	}
	if err := refuseSame(from, to); err != nil {
		return done, err
	}
	dir := filepath.Dir(to)
	if err := refuseFilesystem(dir, filesystemKind); err != nil {
		return done, err
	}
	if err := closeFolder(dir, filepath.Base(to)); err != nil {
		return done, err
	}
	lock, err := takeLock(to + ".lock")
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if err := mayRestore(ctx, from); err != nil {
		return done, err
	}
	err = makeFile(to, func(partial string) (err error) {
		if err := copyAll(ctx, from, partial); err != nil {
			return err
		}
		if done.Report, err = inspectWhole(ctx, partial); err != nil {
			return fmt.Errorf("the copy of %s does not verify, so nothing was changed: %w", from, err)
		}
		done.Path = to
		done.Aside, err = moveAside(ctx, to, to+".before-restore-"+stamp(time.Now()))
		return err
	})
	return done, err
}

func refuseSame(from, to string) error {
	a, err := os.Stat(from)
	if err != nil {
		return refuseLook(from, err)
	}
	if b, err := os.Stat(to); err == nil && os.SameFile(a, b) {
		return sdk.Errorf(sdk.Validation, "%s is the database itself; name the backup to restore", from)
	}
	return nil
}

// mayRestore refuses a file that is no whole database.
func mayRestore(ctx context.Context, from string) error {
	_, err := inspectWhole(ctx, from)
	switch {
	case err == nil:
		return nil
	case code(err) == sqlite3.SQLITE_NOTADB:
		return &sdk.Error{Outcome: sdk.Validation, Cause: err,
			Message: from + " is no database, so nothing was changed; name a file that `bothy backup` wrote"}
	}
	return fmt.Errorf("%s cannot be restored, and nothing was changed: %w", from, err)
}

// copyAll copies a database with what is in its write-ahead log.
func copyAll(ctx context.Context, from, to string) error {
	return lookInto(ctx, from, noLog(from), func(conn *sql.Conn) error { return explain("copying "+from, vacuumInto(ctx, conn, to)) })
}

// moveAside gives the present database a second name. It stays under its first
// one until the copy is renamed over it, but alone: what its write-ahead log
// held is in the file by then, since a log that lay beside the copy would be
// taken for the copy's.
func moveAside(ctx context.Context, path, aside string) (string, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	// One that is damaged, and may not let its log be ended, keeps it.
	s := &Store{path: path}
	ended := s.connectWriter(ctx)
	if ended == nil {
		ended = s.endLog(ctx)
	}
	ended = errors.Join(ended, s.disconnect())
	suffixes := []string{"", "-wal", "-shm"}
	for _, suffix := range suffixes {
		err := os.Link(path+suffix, aside+suffix)
		if err != nil && !(suffix != "" && errors.Is(err, fs.ErrNotExist)) {
			return "", fmt.Errorf("keeping %s aside: %w", path+suffix, errors.Join(err, ended))
		}
	}
	if err := refuseFile("keeping the database aside", path, durable.Folder(filepath.Dir(path))); err != nil {
		return "", err
	}
	for _, suffix := range suffixes[1:] {
		if err := removeIfThere(path + suffix); err != nil {
			return "", refuseFile("keeping the database aside", path+suffix, err)
		}
	}
	return aside, refuseFile("keeping the database aside", path, durable.Folder(filepath.Dir(path)))
}
