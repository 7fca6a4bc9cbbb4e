package store

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"syscall"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/bothyd/bothy/sdk"
)

// explain turns an error of the database into one that says what was being
// done and, where somebody can act on it, has an outcome.
func explain(doing string, err error) error {
	var own *sdk.Error
	if err == nil || errors.As(err, &own) {
		return err
	}
	if errors.Is(err, sql.ErrConnDone) || errors.Is(err, errClosed) {
		return sdk.Errorf(sdk.Unavailable, "%s: the store is closed: %w", doing, err)
	}
	switch code(err) {
	case 0:
		if errors.Is(err, syscall.EIO) {
			return sdk.Errorf(sdk.Unavailable, "%s: the disk failed; look for disk errors in the system log: %w", doing, err)
		}
		return fmt.Errorf("%s: %w", doing, err)
	case sqlite3.SQLITE_FULL:
		return sdk.Errorf(sdk.Unavailable, "%s: the disk is full, so nothing was written; free some space and try again: %w", doing, err)
	case sqlite3.SQLITE_READONLY:
		return sdk.Errorf(sdk.Unavailable, "%s: the database cannot be written to any more, so nothing was written; look whether its disk was mounted read-only: %w", doing, err)
	case sqlite3.SQLITE_CANTOPEN:
		return sdk.Errorf(sdk.Unavailable, "%s: the database or its write-ahead log cannot be opened; look whether it is still there and whether file descriptors are left (ulimit -n): %w", doing, err)
	case sqlite3.SQLITE_IOERR:
		return sdk.Errorf(sdk.Unavailable, "%s: the disk refused the write or the read, so nothing was written; look for space and for disk errors in the system log: %w", doing, err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return sdk.Errorf(sdk.Unavailable, "%s: another program holds the database; only the daemon may open it: %w", doing, err)
	case sqlite3.SQLITE_NOTADB:
		return sdk.Errorf(sdk.Conflict, "%s: the file is no database; move it away and start again, or restore a backup (bothy restore FILE): %w", doing, err)
	case sqlite3.SQLITE_CORRUPT:
		return sdk.Errorf(sdk.Internal, "%s: the database file is damaged; keep a copy of it with its -wal file, then restore a backup: %w", doing, err)
	case sqlite3.SQLITE_CONSTRAINT:
		return sdk.Errorf(sdk.Conflict, "%s: %w", doing, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// coded is an error with one of SQLite's extended codes, as *sqlite.Error is.
type coded interface {
	error
	Code() int
}

// extended is SQLite's result code in err's chain; 0 when there is none.
func extended(err error) int {
	var e coded
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code()
}

// code is the primary one.
func code(err error) int { return extended(err) & 0xff }

// isDamage reports whether err says that what is stored is not what was written.
func isDamage(err error) bool {
	var d *sdk.JournalDamage
	return errors.As(err, &d) || code(err) == sqlite3.SQLITE_CORRUPT
}

// isFailedWrite reports whether the disk failed in a write or in making it
// durable, after which nothing that the kernel still holds can be trusted. A read
// that failed is no such thing: it leaves everything as it is.
func isFailedWrite(err error) bool {
	return hasCode(err, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC, sqlite3.SQLITE_IOERR_TRUNCATE)
}

// isRefusal reports whether err says that nothing can be written at present:
// there is no room, no right or no file descriptor. Of the index of the log,
// which nobody makes durable, all failures are such.
func isRefusal(err error) bool {
	return slices.Contains([]int{sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}, code(err)) ||
		hasCode(err, sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_SHMOPEN, sqlite3.SQLITE_IOERR_SHMMAP, sqlite3.SQLITE_IOERR_SHMLOCK)
}

// lacksRoom reports whether err, of the database at path, says for now that nothing
// can be written: as isRefusal has it, or by a quota or a limit to files.
func lacksRoom(err error, path string) bool {
	return isRefusal(err) || hasCode(err, sqlite3.SQLITE_IOERR_WRITE) && noRoom(path)
}

// hasCode reports whether err is of one of SQLite's extended codes.
func hasCode(err error, codes ...int) bool { return slices.Contains(codes, extended(err)) }
