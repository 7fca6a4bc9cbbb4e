package store

import (
	"cmp"
	"context"
	"database/sql"
	"runtime/debug"
	"slices"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
)

// tx is the one transaction under way. It keeps the journal's position to
// itself until the commit has succeeded.
type tx struct {
	s       *Store
	now     time.Time
	head    position
	scratch []byte
}

// job is a change that waits for a commit.
type job struct {
	fn   func(*tx) error
	err  error
	done chan struct{} // closed when err tells how it ended
}

// update runs fn in a transaction and announces it. Those that wait together share
// one commit, in their order, each as a whole or not at all. The wait ends with ctx,
// but no transaction that has begun: nobody would know of one that was cut short.
// doing completes "...: what went wrong". fn runs on the goroutine of one who waits,
// so it writes only what is its caller's. queued are called once the change has its
// place in the order; nil is none.
func (s *Store) update(ctx context.Context, doing string, fn func(*tx) error, queued ...func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j := &job{fn: fn, done: make(chan struct{})}
	s.mu.Lock()
	s.jobs = append(s.jobs, j)
	s.mu.Unlock()
	select {
	case s.come <- struct{}{}:
	default: // it is known already
	}
	for _, call := range queued {
		if call != nil {
			call()
		}
	}
	select {
	case <-j.done:
	case s.writing <- struct{}{}:
		s.work()
		<-s.writing
		<-j.done
	case <-ctx.Done():
		if s.withdraw(j) {
			return ctx.Err()
		}
		<-j.done
	}
	if t := s.trouble.Load(); t != nil && j.err == t.err { //nolint:errorlint // itself, and nothing that wraps it
		return sdk.Errorf(sdk.Unavailable, "%s: %w", doing, j.err)
	}
	return explain(doing, j.err)
}

// withdraw takes a job out of those that wait, and reports whether it was there.
func (s *Store) withdraw(j *job) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.jobs, j)
	if i >= 0 {
		s.jobs = slices.Delete(s.jobs, i, i+1)
	}
	return i >= 0
}

// work does all jobs that wait, whosever they are, in one transaction.
func (s *Store) work() {
	jobs := s.take()
	if len(jobs) == 0 {
		return
	}
	err := s.ready()
	if err == nil {
		if jobs, err = s.transact(jobs); err != nil {
			s.afterFailure(err)
		}
	}
	for _, j := range jobs {
		j.err = cmp.Or(j.err, err)
		close(j.done)
	}
}

// take takes the jobs that wait.
func (s *Store) take() (jobs []*job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	jobs, s.jobs = s.jobs, nil
	return jobs
}

// The bounds of one transaction: how long it waits for others, and how many it does.
const (
	longestWait = time.Millisecond
	mostShared  = 64
)

// others takes the jobs that came while a transaction did n, none where it is to be
// committed. Where more shared the last one, it waits for as many until late: else two
// halves of those who write would take turns, each with a commit of its own. Who writes
// alone never waits.
func (s *Store) others(n int, late <-chan time.Time) []*job {
	if n >= mostShared {
		return nil
	}
	for {
		if jobs := s.take(); len(jobs) > 0 || n >= s.shared {
			return jobs
		}
		select {
		case <-s.come:
		case <-late:
			return nil
		}
	}
}

// transact runs the jobs in one transaction, and those that come meanwhile; it returns
// all of them. Its error is that of each; what is wrong with one alone stands in the job.
func (s *Store) transact(first []*job) (jobs []*job, err error) {
	if s.stale {
		if err := s.loadHead(); err != nil {
			return first, err
		}
	}
	t := &tx{s: s, head: s.head}
	if err := t.exec(`BEGIN IMMEDIATE`); err != nil {
		return first, err
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
	late := time.After(min(s.took, longestWait))
	for come := first; len(come) > 0; come = s.others(len(jobs), late) {
		jobs = append(jobs, come...)
		for _, j := range come {
			if err := t.do(j, len(jobs) > 1); err != nil {
				return jobs, err
			}
		}
	}
	if err := s.checkFiles(); err != nil {
		return jobs, err
	}
	failpoint.Hit(failpoint.StoreBefore)
	began := time.Now()
	if err := t.commit(); err != nil {
		return jobs, err
	}
	s.shared, s.took = len(jobs), time.Since(began)
	failpoint.Hit(failpoint.StoreAfter)
	committed = true
	if t.head.seq != s.head.seq {
		s.head = t.head
		s.seq.Store(t.head.seq)
		s.wake() // after the commit: what followers are woken for is there to read
	}
	s.accept()
	return jobs, nil
}

// do runs one job. Where others share the transaction, nothing of a job that fails
// stays in it. An error is returned where the transaction as a whole cannot go on.
func (t *tx) do(j *job, shared bool) error {
	t.now = t.s.now()
	if !shared {
		return t.call(j)
	}
	head := t.head
	if err := t.exec(`SAVEPOINT job`); err != nil {
		return err
	}
	if j.err = t.call(j); j.err == nil {
		return t.exec(`RELEASE job`)
	}
	if code(j.err) == sqlite3.SQLITE_IOERR || isDamage(j.err) || isRefusal(j.err) { // SQLite may have undone all of it
		return j.err
	}
	t.head = head
	if err := t.exec(`ROLLBACK TO job`); err != nil {
		return err
	}
	return t.exec(`RELEASE job`)
}

// call keeps a panic from those whose goroutine it is not.
func (t *tx) call(j *job) (err error) {
	defer func() {
		if p := recover(); p != nil {
			t.s.log.Error("a panic ended a change", "panic", p, "stack", string(debug.Stack()))
			err = sdk.Errorf(sdk.Internal, "an internal error ended the change: %v", p)
		}
	}()
	return j.fn(t)
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
	_, err := t.insert(q, args...)
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
