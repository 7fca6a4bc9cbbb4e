package engine

import (
	"context"
	"sync"

	"github.com/bothyd/bothy/sdk"
)

// book keeps what all work in one run has in common: the number of the next
// turn. It is there while anything works in the run, and gone when it rests.
type book struct {
	users int // guarded by Engine.mu

	mu    sync.Mutex
	next  int // 0: not read yet
	reads int // how often it was

	// submit orders the look at whether a run is busy and the queueing. Calls that
	// nobody queues share it.
	submit sync.RWMutex
}

// book returns the run's book, and what gives it back.
func (e *Engine) book(run int64) (b *book, giveBack func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	b, ok := e.books[run]
	if !ok {
		b = &book{}
		e.books[run] = b
	}
	b.users++
	return b, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if b.users--; b.users == 0 {
			delete(e.books, run)
		}
	}
}

// turnTries bounds how often a turn is numbered anew because another one failed that
// had the number before.
const turnTries = 5

// openTurn commits the change that build makes for the run's next turn, with
// OpenTurn in it. Turns of one run are numbered one after the other; several may
// be open, and wait for their commit together, since tools can be called in a run
// while a loop works in it.
func (e *Engine) openTurn(ctx context.Context, b *book, run int64, u urgency, build func(turn int) (sdk.Change, error)) (sdk.Receipt, error) {
	for tries := 1; ; tries++ {
		receipt, err := e.tryTurn(ctx, b, run, u, build)
		if tries == turnTries || sdk.OutcomeOf(err) != sdk.Conflict {
			return receipt, err
		}
	}
}

// tryTurn keeps the number to itself until the change has its place among the
// commits.
func (e *Engine) tryTurn(ctx context.Context, b *book, run int64, u urgency, build func(turn int) (sdk.Change, error)) (sdk.Receipt, error) {
	n, reads, err := b.number(ctx, e.cfg.Store, run)
	if err != nil {
		return sdk.Receipt{}, err
	}
	counted := sync.OnceFunc(func() {
		b.next = n + 1
		b.mu.Unlock()
	})
	c, err := build(n)
	var receipt sdk.Receipt
	if err == nil {
		c.Queued = counted
		receipt, err = e.commit(ctx, u, c)
	}
	counted()
	if err != nil {
		b.forget(reads)
	}
	return receipt, err
}

// number locks the book and returns the number of the next turn.
func (b *book) number(ctx context.Context, s Store, run int64) (next, reads int, err error) {
	b.mu.Lock()
	if b.next == 0 {
		r, err := s.Run(ctx, run)
		if err != nil {
			b.mu.Unlock()
			return 0, 0, err
		}
		b.next = r.Turns + 1
		b.reads++
	}
	return b.next, b.reads, nil
}

// forget has the number read again, unless that was done since it was given.
func (b *book) forget(reads int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reads == reads {
		b.next = 0
	}
}
