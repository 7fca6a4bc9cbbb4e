package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bothyd/bothy/daemon/internal/durable"
	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
)

// BackupDir is where the backups of a database lie that were given no name.
func BackupDir(path string) string { return filepath.Join(filepath.Dir(path), "backups") }

// Backup writes a copy of everything that is committed to the file at to, while
// the daemon goes on: it copies under another name beside it, verifies the copy
// as a whole and renames it then, so that what bears the name is a backup. With
// an empty to it takes a dated name in BackupDir. progress may be nil.
//
// Outcomes: Conflict when the file is there and force is not set, when it is
// the database itself, and when another backup runs; Internal when the copy
// does not verify; Unavailable when there is no room, or the disk failed.
func (s *Store) Backup(ctx context.Context, to string, force bool, progress func(done, total int64)) (Report, error) {
	if !s.copying.TryLock() {
		return Report{}, sdk.Errorf(sdk.Conflict, "a backup is being written already; wait until it is done")
	}
	defer s.copying.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.closing, cancel)()
	if to == "" {
		dir := BackupDir(s.path)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return Report{}, refuseFile("making the folder of the backups", dir, err)
		}
		to = filepath.Join(dir, "bothy-"+stamp(s.now())+".db")
	}
	if err := s.mayWriteBackup(to, force); err != nil {
		return Report{}, err
	}
	report, err := s.backup(ctx, to, force, progress)
	if err != nil && ctx.Err() != nil {
		err = sdk.Errorf(sdk.Aborted, "the backup was ended before it was complete, so there is none: %w", err)
	}
	return report, err
}

// stamp is a time as names of files have it. Milliseconds keep two apart.
func stamp(t time.Time) string {
	return strings.Replace(t.UTC().Format("20060102T150405.000Z"), ".", "", 1)
}

func (s *Store) mayWriteBackup(to string, force bool) error {
	if !filepath.IsAbs(to) {
		return sdk.Errorf(sdk.Validation, "a backup needs an absolute path, not %q", to)
	}
	if suffix, is := strings.CutPrefix(to, s.path); is && slices.Contains([]string{"", "-wal", "-shm", "-journal", ".lock"}, suffix) {
		return sdk.Errorf(sdk.Conflict, "%s belongs to the database itself; give the backup another name", to)
	}
	info, err := os.Lstat(to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		dir := filepath.Dir(to)
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return &sdk.Error{Outcome: sdk.NotFound, Message: fmt.Sprintf("there is no folder %s; make it, or name another place for the backup", dir), Cause: err}
		}
		return nil
	case err != nil:
		return refuseFile("looking for the backup", to, err)
	case info.IsDir():
		return sdk.Errorf(sdk.Validation, "%s is a folder; name a file in it", to)
	case !force:
		return sdk.Errorf(sdk.Conflict, "%s is there already; choose another name, or overwrite it with --force", to)
	}
	return nil
}

func (s *Store) backup(ctx context.Context, to string, force bool, progress func(done, total int64)) (report Report, err error) {
	err = makeFile(to, func(partial string) (err error) {
		if err := s.copyInto(ctx, partial, progress); err != nil {
			return err
		}
		failpoint.Hit(failpoint.BackupCopied)
		if report, err = inspectWhole(ctx, partial); err != nil {
			return fmt.Errorf("the copy does not verify, so it was not kept: %w", err)
		}
		failpoint.Hit(failpoint.BackupVerified)
		return s.mayWriteBackup(to, force) // it may have come in the meantime
	})
	if err != nil {
		return Report{}, err
	}
	failpoint.Hit(failpoint.BackupRenamed)
	report.Path = to
	return report, nil
}

// copyInto copies what is committed into an empty file and makes it durable,
// through a connection that is open, so that a deleted database is copied too.
func (s *Store) copyInto(ctx context.Context, file string, progress func(done, total int64)) error {
	err := s.borrow(ctx, func(conn *sql.Conn) error {
		defer watchSize(ctx, conn, file, progress)()
		// VACUUM counts as a write, although it writes another file. The
		// connection is dropped afterwards, so that none in the pool can write.
		defer func() { _ = conn.Raw(func(any) error { return driver.ErrBadConn }) }() // which closes it
		if _, err := conn.ExecContext(ctx, `PRAGMA query_only = OFF`); err != nil {
			return err
		}
		return vacuumInto(ctx, conn, file)
	})
	return explain("writing a backup", err)
}

// vacuumInto writes a compact copy into an empty file and makes it durable.
func vacuumInto(ctx context.Context, conn *sql.Conn, file string) error {
	if _, err := conn.ExecContext(ctx, `VACUUM INTO ?`, file); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// watchSize tells how far a copy is, until the function it returns is called.
func watchSize(ctx context.Context, conn *sql.Conn, file string, progress func(done, total int64)) (stop func()) {
	var total int64
	err := conn.QueryRowContext(ctx, `SELECT (page_count - freelist_count) * page_size
		FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()`).Scan(&total)
	if progress == nil || err != nil {
		return func() {}
	}
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if info, err := os.Stat(file); err == nil {
					progress(min(info.Size(), total), total)
				}
			}
		}
	})
	return func() {
		close(done)
		watching.Wait()
		progress(total, total)
	}
}

// makeFile has fill write an empty file beside the place to, closed to others, and
// gives it that name when it is complete and durable. Of one that is not, nothing
// stays, and what a process that died has left goes first.
func makeFile(to string, fill func(partial string) error) error {
	dir := filepath.Dir(to)
	partial := filepath.Join(dir, "."+filepath.Base(to)+".partial")
	if err := removeIfThere(partial); err != nil {
		return refuseFile("removing a copy that was not completed", partial, err)
	}
	f, err := os.OpenFile(partial, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return refuseFile("writing beside the backup", dir, err)
	}
	if err = errors.Join(f.Close(), fill(partial)); err == nil {
		if err = refuseFile("giving the copy its name", to, os.Rename(partial, to)); err == nil {
			return refuseFile("making a name durable", dir, durable.Folder(dir))
		}
	}
	return errors.Join(err, removeIfThere(partial))
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
