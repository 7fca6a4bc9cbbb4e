package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bothyd/bothy/daemon/internal/pidlock"
	"github.com/hashicorp/go-hclog"
)

// Options are what a Store takes from outside. Zero values are of use: no log,
// the system's clock, nobody to alarm, nothing to hide.
type Options struct {
	Log   hclog.Logger
	Clock func() time.Time // for what people are shown; order comes from seq alone

	// Alarm is told once each time when the store stops taking writes, with what
	// Refused answers then; after ErrFailed the process must end. It is called within
	// a write: it must return at once and call nothing of the store.
	Alarm func(error)

	Redact Redactor // takes secrets out of all that is written

	filesystem func(dir string) (string, error) // nil asks the kernel
}

// Store is an open database. All methods may be used from many goroutines;
// writes wait for one another. What a method returned without an error is
// durable.
type Store struct {
	path  string
	log   hclog.Logger
	clock func() time.Time
	alarm func(error)
	lock  *pidlock.Lock

	redactor Redactor

	// writing holds one token; who has it may use what follows.
	writing    chan struct{}
	writer     *sql.DB
	conn       *sql.Conn
	prepared   map[string]*sql.Stmt
	head       position
	stale      bool          // the last transaction failed; read head from the file
	shared     int           // how many changes had the last commit together
	took       time.Duration // how long that commit lasted
	failCommit func() error  // a test's fault in place of a COMMIT

	// gate is held by who reads, and alone by who closes the connections.
	gate    sync.RWMutex
	readers *sql.DB
	reads   sync.Map                  // query text to *sql.Stmt
	files   [len(watched)]fs.FileInfo // as they were when they were opened

	trouble atomic.Pointer[trouble] // set under writing
	copying sync.Mutex              // one backup at a time

	registering sync.Mutex // one scheme at a time
	schemes     atomic.Pointer[registry]
	seq         atomic.Int64
	closing     context.Context //nolint:containedctx // of the store: it ends with Close, and ends a backup
	close       context.CancelFunc

	mu      sync.Mutex
	changed chan struct{}
	jobs    []*job        // changes that wait for a commit, in their order
	come    chan struct{} // has something when jobs came
}

// verifiedAtOpen is how many of the journal's last rows Open verifies.
const verifiedAtOpen = 100

var errClosed = errors.New("store: closed")

// Open opens the database at path and makes it when it is missing. It refuses
// a file that another process has open (Conflict, naming its pid), one that a
// newer Bothy or another program wrote (Conflict), a file or folder of another
// user or that cannot be written to (Permission) and a network filesystem
// (Unavailable). One whose last rows do not verify is opened to be read: Health
// says what is wrong with it, and every write is refused with that.
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	opts.Log, opts.Redact = cmp.Or(opts.Log, hclog.NewNullLogger()), cmp.Or[Redactor](opts.Redact, nothingHidden{})
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	if opts.Alarm == nil {
		opts.Alarm = func(error) {}
	}
	if opts.filesystem == nil {
		opts.filesystem = filesystemKind
	}
	path, err := realPath(path)
	if err != nil {
		return nil, err
	}
	if err := refuseFilesystem(filepath.Dir(path), opts.filesystem); err != nil {
		return nil, err
	}
	if err := prepareFile(path); err != nil {
		return nil, err
	}
	lock, err := takeLock(path + ".lock")
	if err != nil {
		return nil, err
	}
	s := &Store{
		path: path, log: opts.Log, clock: opts.Clock, alarm: opts.Alarm, lock: lock, redactor: opts.Redact,
		writing: make(chan struct{}, 1),
		changed: make(chan struct{}), come: make(chan struct{}, 1),
		stale: true,
	}
	s.closing, s.close = context.WithCancel(context.Background())
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.disconnect(), s.lock.Release())
	}
	return s, nil
}

// open connects, migrates, verifies and loads, in that order.
func (s *Store) open(ctx context.Context) error {
	if err := s.connectWriter(ctx); err != nil {
		return explainLog(s.path, err)
	}
	if err := s.endLog(ctx); err != nil && !lacksRoom(err, s.path) {
		return explainLog(s.path, explain("copying the write-ahead log into "+s.path, err))
	}
	steps, err := migrations()
	if err != nil {
		return err
	}
	if err := migrate(ctx, s.conn, s.path, steps); err != nil {
		return err
	}
	if err := s.connectReaders(); err != nil {
		return err
	}
	if err := s.Verify(ctx, verifiedAtOpen); err != nil {
		if !isDamage(err) {
			return err
		}
		s.refuse(lasting, s.readOnly(err))
	}
	if err := s.loadHead(); err != nil && s.Health() == nil {
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
// Close does nothing. After ErrFailed the file is given free by the end of the
// process only: SQLite would ask for another fsync.
func (s *Store) Close() error {
	s.writing <- struct{}{}
	defer func() { <-s.writing }()
	if s.closing.Err() != nil {
		return nil
	}
	s.close()
	s.wake()
	s.gate.Lock()
	defer s.gate.Unlock()
	if errors.Is(s.Health(), ErrFailed) {
		return nil
	}
	if err := errors.Join(s.disconnect(), s.lock.Release()); err != nil { // the lock goes last
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

func (s *Store) wake() {
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

// ownerScope is that of entries that belong to an owner of runs.
func ownerScope(owner string) string { return "owner:" + owner }
