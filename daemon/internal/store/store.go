package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
)

// Options are what a Store takes from outside. Zero values are of use: no log,
// the system's clock.
type Options struct {
	Log   hclog.Logger
	Clock func() time.Time // for what people are shown; order comes from seq alone
}

// Store is an open database. All methods may be used from many goroutines;
// writes wait for one another. What a method returned without an error is
// durable.
type Store struct {
	path  string
	log   hclog.Logger
	clock func() time.Time
	lock  *os.File

	// writing holds one token; who has it may use what follows.
	writing  chan struct{}
	writer   *sql.DB
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
	head     position
	stale    bool // the last transaction failed; read head from the file

	readers *sql.DB
	reads   sync.Map // query text to *sql.Stmt

	schemes atomic.Pointer[registry]
	seq     atomic.Int64
	closed  atomic.Bool

	mu      sync.Mutex
	changed chan struct{}
}

// verifiedAtOpen is how many of the journal's last rows Open verifies.
const verifiedAtOpen = 100

var errClosed = errors.New("store: closed")

// Open opens the database at path and makes it when it is missing. It refuses
// a file that another process has open (Conflict, naming its pid), one that a
// newer Bothy wrote (Conflict), one whose last rows do not verify (a *Damage),
// and a SQLite that is too old (Unavailable).
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	if opts.Log == nil {
		opts.Log = hclog.NewNullLogger()
	}
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("finding the database: %w", err)
	}
	if err := prepareFile(path); err != nil {
		return nil, err
	}
	lock, err := takeLock(path + ".lock")
	if err != nil {
		return nil, err
	}
	s := &Store{
		path: path, log: opts.Log, clock: opts.Clock, lock: lock,
		writing:  make(chan struct{}, 1),
		prepared: map[string]*sql.Stmt{},
		changed:  make(chan struct{}),
		stale:    true,
	}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.release())
	}
	return s, nil
}

// open connects, migrates, verifies and loads, in that order.
func (s *Store) open(ctx context.Context) error {
	var err error
	if s.writer, err = sql.Open("sqlite", dsn(s.path, false)); err != nil {
		return explain("opening "+s.path, err)
	}
	s.writer.SetMaxOpenConns(1)
	if s.conn, err = s.writer.Conn(ctx); err != nil {
		return explain("opening "+s.path, err)
	}
	if err := checkEngine(ctx, s.conn); err != nil {
		return err
	}
	steps, err := migrations()
	if err != nil {
		return err
	}
	if err := migrate(ctx, s.conn, s.path, steps); err != nil {
		return err
	}
	if s.readers, err = sql.Open("sqlite", dsn(s.path, true)); err != nil {
		return explain("opening "+s.path, err)
	}
	s.readers.SetMaxOpenConns(readerConnections)
	s.readers.SetMaxIdleConns(readerConnections)
	if err := s.Verify(ctx, verifiedAtOpen); err != nil {
		return err
	}
	if err := s.loadHead(); err != nil {
		return err
	}
	if err := s.loadSchemes(ctx); err != nil {
		return err
	}
	s.log.Debug("store opened", "path", s.path, "seq", s.Seq())
	return nil
}

// Close waits for the transaction that is under way, wakes the followers and
// gives the file free. Calls that come later fail with Unavailable. A second
// Close does nothing.
func (s *Store) Close() error {
	s.writing <- struct{}{}
	defer func() { <-s.writing }()
	if s.closed.Swap(true) {
		return nil
	}
	s.mu.Lock()
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	return s.release()
}

// release closes what is open. The lock goes last.
func (s *Store) release() error {
	var errs []error
	s.reads.Range(func(_, stmt any) bool {
		errs = append(errs, stmt.(*sql.Stmt).Close())
		return true
	})
	if s.readers != nil {
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
	errs = append(errs, s.lock.Close())
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("closing %s: %w", s.path, err)
	}
	return nil
}

// Seq returns the seq of the last committed journal row; 0 before the first.
func (s *Store) Seq() int64 { return s.seq.Load() }

// Changed returns a channel that is closed after the next commit that adds to
// the journal, and by Close. Take the channel first and read Journal then: in
// the other order, a commit between the two goes unnoticed.
func (s *Store) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// announce tells the followers of a commit. It comes after the commit, so that
// what they are woken for is there to read.
func (s *Store) announce(seq int64) {
	s.seq.Store(seq)
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}

// now is the clock's time as it is stored: UTC, without a monotonic part.
func (s *Store) now() time.Time { return time.Unix(0, s.clock().UnixNano()).UTC() }

// unix turns a stored time back.
func unix(ns int64) time.Time { return time.Unix(0, ns).UTC() }

// runScope is the scope of entries that belong to one run.
func runScope(run int64) string { return fmt.Sprintf("run:%d", run) }

func noRun(run int64) error {
	return sdk.Errorf(sdk.NotFound, "there is no run with the id %d", run)
}
