package store

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strconv"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/bothyd/bothy/sdk"
)

// readerConnections bounds the pool that reads.
const readerConnections = 8

// oldestEngine is the first SQLite whose WAL cannot be damaged by a checkpoint
// that races a reset (design, section 5).
var oldestEngine = [3]int{3, 51, 3}

// dsn names the database with the settings of every connection. They stand
// here because a PRAGMA sent to a pool reaches one of its connections only.
func dsn(path string, readOnly bool) string {
	q := url.Values{
		"_defensive": {"1"},
		"_dqs":       {"0"},
		"_pragma": {
			"busy_timeout(5000)",
			"journal_mode(WAL)",
			"synchronous(FULL)",
			"foreign_keys(ON)",
			"trusted_schema(OFF)",
			"cell_size_check(ON)",
			"mmap_size(0)",
			"journal_size_limit(67108864)",
			"wal_autocheckpoint(1000)",
		},
	}
	if readOnly {
		q.Set("_query_only", "1")
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}
	return u.String()
}

// checkEngine refuses a SQLite that is too old, and a filesystem on which it
// cannot keep a write-ahead log.
func checkEngine(ctx context.Context, conn *sql.Conn) error {
	var version, mode string
	if err := conn.QueryRowContext(ctx, `SELECT sqlite_version()`).Scan(&version); err != nil {
		return explain("asking SQLite for its version", err)
	}
	if err := refuseOld(version); err != nil {
		return err
	}
	if err := conn.QueryRowContext(ctx, `PRAGMA journal_mode`).Scan(&mode); err != nil {
		return explain("asking SQLite for its journal mode", err)
	}
	if mode != "wal" {
		return sdk.Errorf(sdk.Unavailable, "SQLite cannot keep a write-ahead log here (journal mode %s); put the data directory on a local disk", mode)
	}
	return nil
}

func refuseOld(version string) error {
	var have [3]int
	for i, part := range strings.SplitN(version, ".", 3) {
		n, err := strconv.Atoi(part)
		if err != nil {
			return sdk.Errorf(sdk.Unavailable, "SQLite calls its version %q, which Bothy cannot read: %w", version, err)
		}
		have[i] = n
	}
	for i, n := range have {
		if n > oldestEngine[i] {
			return nil
		}
		if n < oldestEngine[i] {
			return sdk.Errorf(sdk.Unavailable, "this build has SQLite %s; Bothy needs %d.%d.%d or newer, so build it anew with modernc.org/sqlite from go.mod",
				version, oldestEngine[0], oldestEngine[1], oldestEngine[2])
		}
	}
	return nil
}

// scanner reads the columns of the present row.
type scanner func(dest ...any) error

// query reads on the pool. One call is one statement and so one snapshot.
func (s *Store) query(ctx context.Context, q string, args []any, each func(scanner) error) error {
	if s.closed.Load() {
		return errClosed
	}
	stmt, err := s.reading(ctx, q)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

// reading returns the prepared statement of q.
func (s *Store) reading(ctx context.Context, q string) (*sql.Stmt, error) {
	if stmt, ok := s.reads.Load(q); ok {
		return stmt.(*sql.Stmt), nil
	}
	stmt, err := s.readers.PrepareContext(ctx, q)
	if err != nil {
		return nil, err
	}
	if have, lost := s.reads.LoadOrStore(q, stmt); lost {
		return have.(*sql.Stmt), stmt.Close()
	}
	return stmt, nil
}

// one reads the first row, and tells whether there was one.
func (s *Store) one(ctx context.Context, q string, args []any, each func(scanner) error) (bool, error) {
	found := false
	err := s.query(ctx, q, args, func(scan scanner) error {
		found = true
		return each(scan)
	})
	return found, err
}
