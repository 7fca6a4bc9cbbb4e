package host

import (
	"math/rand/v2"
	"slices"
	"time"
)

// The rule of restarts: a plugin that had served is started again at once, the
// first time in the window; from then on the waits double from first to longest,
// begin anew after a healthy time, and end after too many crashes in the window.
const (
	firstWait   = 100 * time.Millisecond
	longestWait = 30 * time.Second
	healthy     = 60 * time.Second
	window      = 10 * time.Minute
	tooMany     = 5
)

// backoff counts the crashes of one plugin. Its zero value is ready.
type backoff struct {
	crashes []time.Time
	next    time.Duration
}

// crashed notes a crash of a plugin that had been up for so long; served says
// whether it was ready at all. It answers how long to wait, or that the plugin
// is broken.
func (b *backoff) crashed(now time.Time, up time.Duration, served bool) (wait time.Duration, broken bool) {
	if up >= healthy {
		b.next = 0
	}
	old := func(t time.Time) bool { return now.Sub(t) >= window }
	b.crashes = append(slices.DeleteFunc(b.crashes, old), now)
	if len(b.crashes) >= tooMany {
		return 0, true
	}
	if served && len(b.crashes) == 1 {
		return 0, false
	}
	b.next = min(max(2*b.next, firstWait), longestWait)
	return jittered(b.next), false
}

// jittered spreads d by a fifth to both sides, so that what failed together
// does not come back together.
func jittered(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
}
