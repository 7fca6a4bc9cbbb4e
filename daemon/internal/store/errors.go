package store

import (
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/bothyd/bothy/sdk"
)

// Damage is what Verify and Open report when what is stored is not what was
// committed: a changed byte in a row or a body, a row too many or too few. Seq
// is the journal row that no longer agrees. It is found with errors.As.
type Damage struct {
	Seq  int64
	What string
}

func (d *Damage) Error() string {
	return fmt.Sprintf("the journal is damaged at row %d: %s", d.Seq, d.What)
}

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
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return sdk.Errorf(sdk.Unavailable, "%s: the disk is full, so nothing was written; free some space and try again: %w", doing, err)
	case sqlite3.SQLITE_IOERR:
		return sdk.Errorf(sdk.Unavailable, "%s: the disk refused the write or the read, so nothing was written; look for space and for disk errors in the system log: %w", doing, err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return sdk.Errorf(sdk.Unavailable, "%s: another program holds the database; only the daemon may open it: %w", doing, err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return sdk.Errorf(sdk.Internal, "%s: the database file is damaged; keep a copy of it with its -wal file, then restore a backup: %w", doing, err)
	case sqlite3.SQLITE_CONSTRAINT:
		return sdk.Errorf(sdk.Conflict, "%s: %w", doing, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// isConstraint reports whether err is the extended constraint code given.
func isConstraint(err error, code int) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code() == code
}
