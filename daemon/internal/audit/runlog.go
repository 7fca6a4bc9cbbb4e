package audit

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
)

// Store is what runlogs are derived from.
type Store interface {
	Seq() int64
	Changed() <-chan struct{}
	Journal(ctx context.Context, q sdk.JournalQuery) ([]sdk.JournalRow, error)
	Run(ctx context.Context, id int64) (sdk.Run, error)
	Runs(ctx context.Context, f sdk.RunFilter) ([]sdk.Run, error)
	LoopTurns(ctx context.Context, run, loop int64) ([]int, error)
	Entry(ctx context.Context, run int64, path string) (sdk.Entry, error)
	Entries(ctx context.Context, q sdk.EntryQuery) ([]sdk.Entry, error)
}

// Config is what runlogs are made of. All fields are required.
type Config struct {
	Store  Store
	Dir    string              // the runs' folders lie in it, by key
	Redact func(string) string // takes secrets out of a text
	Log    hclog.Logger

	retry time.Duration // after which what failed is tried anew; 0 is retryTime
}

const (
	rowPage   = 32 // rows read at a time; each may bring a body of megabytes
	runPage   = 200
	writeSize = 1 << 20               // lines are written when so many bytes have come together
	breath    = 50 * time.Millisecond // between two looks at a journal that grows
	retryTime = 5 * time.Second       // after a file or the store could not be used
	maxOpen   = 256                   // runs whose position is remembered
)

// Runlogs keeps the runlog of every run. Close ends it.
type Runlogs struct {
	cfg      Config
	failures atomic.Int64
	lines    atomic.Int64
	trouble  atomic.Pointer[error] // nil while every file can be written

	// The follower's own.
	at     map[int64]*position // by run: derived as far as the follower is
	behind map[int64]bool      // runs whose file could not be written
	tried  time.Time           // when that was last tried anew

	closing chan struct{}
	ended   chan struct{}
	cut     context.CancelFunc
}

// Start begins to write, from wherever each file ends.
func Start(cfg Config) *Runlogs {
	if cfg.retry == 0 {
		cfg.retry = retryTime
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &Runlogs{
		cfg: cfg, at: map[int64]*position{}, behind: map[int64]bool{},
		closing: make(chan struct{}), ended: make(chan struct{}), cut: cancel,
	}
	go func() {
		defer close(r.ended)
		r.follow(ctx)
	}()
	return r
}

// Failures is how often a runlog could not be written. Nothing else depends on
// it: a run never waits for its log, and the lines come when there is room.
func (r *Runlogs) Failures() int64 { return r.failures.Load() }

// Trouble is why some runlogs lack lines now; nil when none does. It goes when
// the lines are written.
func (r *Runlogs) Trouble() error {
	if why := r.trouble.Load(); why != nil {
		return *why
	}
	return nil
}

// Lines is how many lines were written.
func (r *Runlogs) Lines() int64 { return r.lines.Load() }

// Close writes what the journal has and ends. When ctx ends before that, the
// rest is written at the next start.
func (r *Runlogs) Close(ctx context.Context) error {
	close(r.closing)
	defer r.cut()
	select {
	case <-r.ended:
		return nil
	case <-ctx.Done():
		r.cut()
		<-r.ended
		return fmt.Errorf("the runlogs are not up to date yet; the next start goes on with them: %w", ctx.Err())
	}
}

// follow is the one goroutine that writes. What was committed before it began
// is caught up with run by run; then it reads the journal as it grows. It ends
// when it has read to the end after Close was called.
func (r *Runlogs) follow(ctx context.Context) {
	after := r.cfg.Store.Seq()
	r.catchUpAll(ctx)
	for ctx.Err() == nil {
		changed, last := r.cfg.Store.Changed(), r.isClosing()
		rows, err := r.cfg.Store.Journal(ctx, sdk.JournalQuery{After: after, Limit: rowPage})
		switch {
		case err != nil && ctx.Err() != nil:
			return
		case err != nil:
			r.fail(0, fmt.Errorf("read the journal: %w", err))
			changed = nil
		case len(rows) > 0:
			r.take(ctx, rows)
			after = rows[len(rows)-1].Seq
		}
		switch {
		case len(rows) == rowPage:
		case last:
			return
		default:
			r.rest(ctx, changed)
		}
	}
}

func (r *Runlogs) isClosing() bool {
	select {
	case <-r.closing:
		return true
	default:
		return false
	}
}

// rest waits until there may be more to do, and tries anew what failed a while
// ago. A nil channel is that only time helps.
func (r *Runlogs) rest(ctx context.Context, changed <-chan struct{}) {
	most := time.Duration(0)
	if changed == nil || len(r.behind) > 0 {
		most = r.cfg.retry
	}
	r.wait(ctx, changed, most)
	if len(r.behind) > 0 && time.Since(r.tried) >= r.cfg.retry {
		r.tried = time.Now()
		for run := range r.behind {
			r.catchUp(ctx, run)
		}
	}
	r.wait(ctx, nil, breath)
}

// wait returns when something changed, the time is over (0 is no time), or the
// work is to end.
func (r *Runlogs) wait(ctx context.Context, changed <-chan struct{}, most time.Duration) {
	var over <-chan time.Time
	if most > 0 {
		over = time.After(most)
	}
	select {
	case <-changed:
	case <-over:
	case <-ctx.Done():
	case <-r.closing:
	}
}

// take derives rows of many runs, in their order.
func (r *Runlogs) take(ctx context.Context, rows []sdk.JournalRow) {
	byRun := map[int64][]sdk.JournalRow{}
	var order []int64
	for _, row := range rows {
		if row.Run == 0 {
			continue
		}
		if byRun[row.Run] == nil {
			order = append(order, row.Run)
		}
		byRun[row.Run] = append(byRun[row.Run], row)
	}
	for _, run := range order {
		p, ok := r.at[run]
		if r.behind[run] {
			continue // its time comes
		}
		if !ok {
			r.catchUp(ctx, run)
			continue
		}
		if err := r.derive(ctx, p, byRun[run]); err != nil { // somebody touched the file, or there is no room
			delete(r.at, run)
			r.catchUp(ctx, run)
		}
	}
}

// catchUpAll goes through all runs, newest first.
func (r *Runlogs) catchUpAll(ctx context.Context) {
	for offset := 0; ctx.Err() == nil; offset += runPage {
		runs, err := r.cfg.Store.Runs(ctx, sdk.RunFilter{Hidden: true, Children: true, Limit: runPage, Offset: offset})
		if err != nil {
			r.fail(0, fmt.Errorf("list the runs: %w", err))
			return
		}
		for _, run := range runs {
			r.catchUpRun(ctx, run)
		}
		if len(runs) < runPage {
			return
		}
	}
}

// catchUp finds where a run's file ends and writes what the journal has beyond
// that. A run without a folder has no runlog: its folder is not there yet, or
// somebody removed it.
func (r *Runlogs) catchUp(ctx context.Context, id int64) {
	run, err := r.cfg.Store.Run(ctx, id)
	switch {
	case err == nil:
		r.catchUpRun(ctx, run)
	case sdk.OutcomeOf(err) == sdk.NotFound:
		r.caughtUp(id) // it was deleted
	case ctx.Err() == nil:
		r.fail(id, err)
	}
}

func (r *Runlogs) catchUpRun(ctx context.Context, run sdk.Run) {
	err := r.tryCatchUp(ctx, run)
	switch {
	case err == nil:
		if r.behind[run.ID] {
			r.caughtUp(run.ID)
			r.cfg.Log.Info("a runlog is whole again", "run", run.ID)
		}
	case errors.Is(err, errNoFolder):
		r.caughtUp(run.ID)
	case ctx.Err() == nil:
		r.fail(run.ID, err)
	}
}

func (r *Runlogs) tryCatchUp(ctx context.Context, run sdk.Run) error {
	p, err := openAt(filepath.Join(r.cfg.Dir, run.Key))
	if err != nil {
		return err
	}
	for after := max(p.seq-1, 0); ; {
		rows, err := r.cfg.Store.Journal(ctx, sdk.JournalQuery{After: after, Limit: rowPage, Run: run.ID})
		if err != nil {
			return err
		}
		if after > 0 && after == p.seq-1 && !p.standsFor(rows) {
			r.cfg.Log.Warn("a runlog does not belong to this journal and is set aside", "run", run.ID, "file", p.file+".old")
			if err := p.setAside(); err != nil {
				return err
			}
			after = 0
			continue
		}
		if err := r.derive(ctx, p, rows); err != nil {
			return err
		}
		if len(rows) < rowPage {
			break
		}
		after = rows[len(rows)-1].Seq
	}
	if len(r.at) == maxOpen {
		clear(r.at) // whoever goes on is found again at the end of its file
	}
	r.at[run.ID] = p
	return nil
}

// derive writes the lines of rows that the file does not have yet.
func (r *Runlogs) derive(ctx context.Context, p *position, rows []sdk.JournalRow) error {
	var text []byte
	next, count := *p, int64(0)
	flush := func() error {
		if len(text) == 0 {
			return nil
		}
		if err := p.write(text); err != nil {
			return err
		}
		next.size = p.size
		*p = next
		r.lines.Add(count)
		text, count = text[:0], 0
		return nil
	}
	for _, row := range rows {
		if row.Seq < p.seq {
			continue
		}
		lines, err := r.linesOf(ctx, row)
		if err != nil {
			return err
		}
		for i, l := range lines {
			if row.Seq == next.seq && i < next.n {
				continue
			}
			if text, err = l.appendTo(text); err != nil {
				return err
			}
			next.seq, next.n, next.ts = row.Seq, i+1, string(l.TS)
			count++
		}
		if len(text) >= writeSize {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// fail counts and says it once per run, as long as it does not work again.
func (r *Runlogs) fail(run int64, err error) {
	n := r.failures.Add(1)
	again := run != 0 && r.behind[run]
	if run != 0 {
		r.behind[run], r.tried = true, time.Now()
		why := fmt.Errorf("runlogs cannot be written (runs behind: %d; their lines come when this is mended): %w", len(r.behind), err)
		r.trouble.Store(&why)
	}
	if again {
		return
	}
	r.cfg.Log.Error("a runlog could not be written; the run goes on, and its lines come later", "run", run, "failures", n, "error", err)
}

// caughtUp notes that nothing is missing in a run's file.
func (r *Runlogs) caughtUp(run int64) {
	delete(r.behind, run)
	if len(r.behind) == 0 {
		r.trouble.Store(nil)
	}
}
