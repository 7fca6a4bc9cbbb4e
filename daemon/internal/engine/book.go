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

	mu   sync.Mutex
	next int // 0: not read yet

	submit sync.Mutex // orders the look at whether a run is busy and the queueing
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

// openTurn commits the change that build makes for the run's next turn, with
// OpenTurn in it. Turns of one run are opened one after the other; several may
// be open, since tools can be called in a run while a loop works in it.
func (e *Engine) openTurn(ctx context.Context, b *book, run int64, u urgency, build func(turn int) (sdk.Change, error)) (sdk.Receipt, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for again := true; ; again = false {
		if b.next == 0 {
			r, err := e.cfg.Store.Run(ctx, run)
			if err != nil {
				return sdk.Receipt{}, err
			}
			b.next = r.Turns + 1
		}
		c, err := build(b.next)
		if err != nil {
			return sdk.Receipt{}, err
		}
		receipt, err := e.commit(ctx, u, c)
		switch {
		case err == nil:
			b.next++
			return receipt, nil
		case again && sdk.OutcomeOf(err) == sdk.Conflict:
			b.next = 0 // somebody else counted; read again
		default:
			return receipt, err
		}
	}
}
