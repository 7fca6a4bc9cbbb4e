package guard

import (
	"context"
	"fmt"
	"time"
)

// deadline bounds the time of a loop. Only monotonic time counts: that of the
// turns of earlier daemons, as it was recorded, and what has passed since this
// one took up the loop. A clock that jumps moves nothing.
type deadline struct {
	limit time.Duration
	spent time.Duration // by the turns of earlier daemons
	clock func() time.Duration
	began time.Duration
}

// Late is the cause with which the context of a loop ends that has taken
// too long.
type Late struct{ limit time.Duration }

func (e *Late) Error() string {
	return fmt.Sprintf("the work on this prompt took longer than %s, so it was stopped (guard deadline)", e.limit)
}

func (g *deadline) take(*judged) {}

func (g *deadline) left() time.Duration { return g.limit - g.spent - (g.clock() - g.began) }

func (g *deadline) stop() (string, string) {
	if g.left() > 0 {
		return "", ""
	}
	return Deadline, (&Late{g.limit}).Error()
}

// Within ends ctx when the loop has taken too long, whatever hangs then. The
// verdict comes only after a turn.
func (g *Set) Within(ctx context.Context, loop int64) (context.Context, context.CancelFunc) {
	g.mu.Lock()
	defer g.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	d := ruleOf[*deadline](g, loop, Deadline)
	if d == nil {
		return ctx, func() { cancel(nil) }
	}
	left := d.left()
	if left <= 0 { // its time was over when it was taken up
		cancel(&Late{d.limit})
	}
	timer := time.AfterFunc(max(left, 0), func() { cancel(&Late{d.limit}) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}
