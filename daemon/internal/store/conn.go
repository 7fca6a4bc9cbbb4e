package store

import (
	"context"
	"database/sql"
	"errors"
	"net/url"

	_ "modernc.org/sqlite" // the driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/bothyd/bothy/sdk"
)

// readerConnections bounds the pool that reads.
const readerConnections = 8

// No build has a SQLite older than 3.51.3, the first whose WAL cannot be damaged by
// a checkpoint that races a reset: the number would be below 0.
const _ = uint(sqlite3.SQLITE_VERSION_NUMBER - 3_051_003)

// dsn names the database with the settings of every connection. They stand
// here because a PRAGMA sent to a pool reaches one of its connections only.
func dsn(path string, readOnly bool) string {
	q := url.Values{}
	if readOnly {
		q.Set("_query_only", "1")
	}
	return connected(path, q)
}

// connected is uri for the daemon's own connections.
func connected(path string, q url.Values) string {
	return uri(path, q, "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)", "journal_size_limit(67108864)", "wal_autocheckpoint(1000)")
}

// uri names a database with what holds for whoever opens it, and with more.
func uri(path string, q url.Values, pragmas ...string) string {
	if !q.Has("_defensive") {
		q.Set("_defensive", "1")
	}
	q.Set("_dqs", "0")
	q["_pragma"] = append([]string{"busy_timeout(5000)", "trusted_schema(OFF)", "cell_size_check(ON)", "mmap_size(0)"}, pragmas...)
	u := url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}
	return u.String()
}

// connectWriter opens the one connection that writes.
func (s *Store) connectWriter(ctx context.Context) (err error) {
	s.prepared = map[string]*sql.Stmt{}
	if s.writer, err = sql.Open("sqlite", dsn(s.path, false)); err != nil {
		return explain("opening "+s.path, err)
	}
	s.writer.SetMaxOpenConns(1)
	if s.conn, err = s.writer.Conn(ctx); err != nil {
		return explain("opening "+s.path, err)
	}
	return refuseNoLog(ctx, s.conn)
}

// connectSchema opens a connection for migrations, which alone may change what the schema says of a table that is there.
func connectSchema(ctx context.Context, path string) (conn *sql.Conn, end func() error, err error) {
	db, err := sql.Open("sqlite", connected(path, url.Values{"_defensive": {"0"}}))
	if err != nil {
		return nil, nil, explain("opening "+path, err)
	}
	if conn, err = db.Conn(ctx); err != nil {
		return nil, nil, errors.Join(explain("opening "+path, err), db.Close())
	}
	return conn, func() error { return errors.Join(conn.Close(), db.Close()) }, nil
}

// connectReaders opens the pool that reads, and remembers which files were
// opened by then.
func (s *Store) connectReaders() (err error) {
	if s.readers, err = sql.Open("sqlite", dsn(s.path, true)); err != nil {
		return explain("opening "+s.path, err)
	}
	s.readers.SetMaxOpenConns(readerConnections)
	s.readers.SetMaxIdleConns(readerConnections)
	s.files, err = lookAtFiles(s.path)
	return err
}

// disconnect closes whatever is open of the file but the lock.
func (s *Store) disconnect() error {
	var errs []error
	if s.readers != nil {
		s.reads.Range(func(_, stmt any) bool {
			errs = append(errs, stmt.(*sql.Stmt).Close())
			return true
		})
		errs = append(errs, s.readers.Close())
	}
	for _, stmt := range s.prepared {
		errs = append(errs, stmt.Close())
	}
	if s.conn != nil {
		errs = append(errs, s.conn.Close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.Close())
	}
	return errors.Join(errs...)
}

// refuseNoLog refuses a filesystem on which SQLite cannot keep a write-ahead log.
func refuseNoLog(ctx context.Context, conn *sql.Conn) error {
	var mode string
	if err := conn.QueryRowContext(ctx, `PRAGMA journal_mode`).Scan(&mode); err != nil {
		return explain("asking SQLite for its journal mode", err)
	}
	if mode != "wal" {
		return sdk.Errorf(sdk.Unavailable, "SQLite cannot keep a write-ahead log here (journal mode %s); put the data directory on a local disk", mode)
	}
	return nil
}

// query reads on the pool. One call is one statement and so one snapshot.
func (s *Store) query(ctx context.Context, q string, args []any, each func(scanner) error) error {
	s.gate.RLock()
	defer s.gate.RUnlock()
	if s.closing.Err() != nil {
		return errClosed
	}
	stmt, err := s.reading(ctx, q)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	return eachRow(rows, err, each)
}

// borrow gives do one connection of the pool.
func (s *Store) borrow(ctx context.Context, do func(*sql.Conn) error) error {
	s.gate.RLock()
	defer s.gate.RUnlock()
	if s.closing.Err() != nil {
		return errClosed
	}
	conn, err := s.readers.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // it only goes back
	return do(conn)
}

// endLog brings the write-ahead log into the file and empties it: what it holds
// after an fsync that failed may be in memory alone (ADR 0073).
func (s *Store) endLog(ctx context.Context) error {
	_, err := s.conn.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	return err
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

// reader is query for those who read with one context.
func (s *Store) reader(ctx context.Context) reader {
	return func(q string, args []any, each func(scanner) error) error { return s.query(ctx, q, args, each) }
}

// finder is reader for those who look for one row by an index: nobody need end that,
// and the two goroutines that would wait for its end cost as much as the row.
func (s *Store) finder(ctx context.Context) reader { return s.reader(context.WithoutCancel(ctx)) }
