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

// down says by the state what comes after a failed start, which fail tells of, or a crash: broken, or
// backoff until the time that it answers; nil where it is broken.
func (i *instance) down(b *backoff, fail *inspect.Fault, up time.Duration) (next <-chan time.Time) {
	why := i.why()
	if fail != nil {
		why = fail
	}
	if fail != nil && (fail.Permanent || i.current().Foreign != nil) { // an author's process is not started again
		i.setState(Broken, nil, &Unstartable{Text: i.s.texts(fail.Diagnostics(i.current())), why: fail})
		return nil
	}
	wait, broken := b.crashed(time.Now(), up, fail == nil)
	if broken {
		err := fmt.Errorf("it crashed %d times within %v and is not started again: %s; a new build starts it, or `bothy plugins reload %s`",
			tooMany, window, strings.TrimRight(reason(why), "."), i.name)
		i.setState(Broken, nil, err)
		i.say(ofStart, i.current().Fail("it is broken", err.Error()))
		return nil
	}
	i.mu.Lock()
	i.restarts++
	i.mu.Unlock()
	i.setState(Backoff, nil, why)
	return time.After(wait)
}

// again waits for the time of the next start, if there is one, or until another spec or file is
// asked for; false when ctx ended.
func (i *instance) again(ctx context.Context, next <-chan time.Time) bool {
	goes := i.rest(ctx, next)
	if !goes && next != nil {
		i.setState(Stopped, nil, nil)
	}
	return goes
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
