package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
)

// tx is the one transaction under way. It keeps the journal's position to
// itself until the commit has succeeded.
type tx struct {
	s       *Store
	now     time.Time
	head    position
	schemes registry // when not nil, in force after the commit
	scratch []byte
}

// update runs fn in one IMMEDIATE transaction and announces it. The wait for
// other writers ends with ctx; once begun, a transaction is not cut short,
// since one that was cancelled while it commits leaves nobody knowing. doing
// completes "...: what went wrong".
func (s *Store) update(ctx context.Context, doing string, fn func(*tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s.writing <- struct{}{}:
		defer func() { <-s.writing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if s.closed.Load() {
		return explain(doing, errClosed)
	}
	if err := s.ready(); err != nil {
		return sdk.Errorf(sdk.Unavailable, "%s: %w", doing, err)
	}
	err := s.transact(fn)
	if err != nil {
		s.afterFailure(err)
	}
	return explain(doing, err)
}

// transact runs one transaction.
func (s *Store) transact(fn func(*tx) error) error {
	if s.stale {
		if err := s.loadHead(); err != nil {
			return err
		}
	}
	t := &tx{s: s, now: s.now(), head: s.head}
	if err := t.exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	committed := false
	defer func() {
		if !committed {
			// After a failed COMMIT the transaction may be gone already, or its
			// last word may stand in the file: nothing is assumed of either.
			_ = t.exec(`ROLLBACK`)
			s.stale = true
		}
	}()
	if err := fn(t); err != nil {
		return err
	}
	if err := s.checkFiles(); err != nil {
		return err
	}
	failpoint.Hit(failpoint.StoreBefore)
	if err := t.commit(); err != nil {
		return err
	}
	failpoint.Hit(failpoint.StoreAfter)
	committed = true
	if t.schemes != nil {
		s.schemes.Store(&t.schemes)
	}
	if t.head.seq != s.head.seq {
		s.head = t.head
		s.seq.Store(t.head.seq)
		s.wake() // after the commit: what followers are woken for is there to read
		s.accept()
	}
	return nil
}

func (t *tx) commit() error {
	if t.s.failCommit != nil {
		if err := t.s.failCommit(); err != nil {
			return err
		}
	}
	return t.exec(`COMMIT`)
}

// stmt returns the prepared statement of q on the writing connection.
func (t *tx) stmt(q string) (*sql.Stmt, error) {
	if stmt, ok := t.s.prepared[q]; ok {
		return stmt, nil
	}
	stmt, err := t.s.conn.PrepareContext(context.Background(), q)
	if err != nil {
		return nil, err
	}
	t.s.prepared[q] = stmt
	return stmt, nil
}

func (t *tx) exec(q string, args ...any) error {
	stmt, err := t.stmt(q)
	if err != nil {
		return err
	}
	_, err = stmt.Exec(args...)
	return err
}

// insert is exec for a table with an id, which it returns.
func (t *tx) insert(q string, args ...any) (int64, error) {
	stmt, err := t.stmt(q)
	if err != nil {
		return 0, err
	}
	res, err := stmt.Exec(args...)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// query reads within the transaction. each must not start another statement
// with the same text.
func (t *tx) query(q string, args []any, each func(scanner) error) error {
	stmt, err := t.stmt(q)
	if err != nil {
		return err
	}
	rows, err := stmt.Query(args...)
	return eachRow(rows, err, each)
}

// one reads the first row, and tells whether there was one.
func (t *tx) one(q string, args []any, dest ...any) (bool, error) {
	found := false
	err := t.query(q, args, func(scan scanner) error {
		found = true
		return scan(dest...)
	})
	return found, err
}
