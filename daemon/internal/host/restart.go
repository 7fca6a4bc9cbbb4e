package host

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// again waits for the time of the next start, after a failure or a crash, or until another
// spec or file is asked for; false when ctx ended.
func (i *instance) again(ctx context.Context, b *backoff, fail *inspect.Fault, up time.Duration) bool {
	if fail != nil && (fail.Permanent || i.current().Foreign != nil) { // an author's process is not started again
		i.setState(Broken, nil, &Unstartable{Text: i.s.texts(fail.Diagnostics(i.current())), why: fail})
		return i.rest(ctx, nil)
	}
	wait, broken := b.crashed(time.Now(), up, fail == nil)
	if broken {
		err := fmt.Errorf("it crashed %d times within %v and is not started again: %s; a new build starts it, or `bothy plugins reload %s`",
			tooMany, window, strings.TrimRight(reason(i.why()), "."), i.name)
		i.setState(Broken, nil, err)
		i.say(ofStart, i.current().Fail("it is broken", err.Error()))
		return i.rest(ctx, nil)
	}
	i.setState(Backoff, nil, i.why())
	i.mu.Lock()
	i.restarts++
	i.mu.Unlock()
	t := time.NewTimer(wait)
	defer t.Stop()
	if !i.rest(ctx, t.C) {
		i.setState(Stopped, nil, nil)
		return false
	}
	return true
}

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
	return sdk.Jittered(b.next), false
}
