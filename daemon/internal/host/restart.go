package host

import (
	"context"
	"fmt"
	"time"

	"github.com/bothyd/bothy/daemon/internal/inspect"
)

// again waits for the time of the next start, after a failure or a crash; false
// when ctx ended.
func (i *instance) again(ctx context.Context, b *backoff, fail *inspect.Fault, up time.Duration) bool {
	if fail != nil && fail.Permanent {
		i.setState(Broken, nil, &Unstartable{Text: i.s.texts(fail.Diagnostics(i.current())), why: fail})
		return i.rest(ctx, nil)
	}
	wait, broken := b.crashed(time.Now(), up, fail == nil)
	if broken {
		i.breaks()
		return i.rest(ctx, nil)
	}
	if !i.pause(ctx, wait) {
		i.setState(Stopped, nil, nil)
		return false
	}
	return true
}

// breaks makes the instance broken after too many crashes.
func (i *instance) breaks() {
	err := fmt.Errorf("it crashed %d times within %v and is not started again: %s", tooMany, window, reason(i.why()))
	i.setState(Broken, nil, err)
	i.say(ofStart, i.current().Fail("it is broken", err.Error()))
}

// pause waits before the next start, unless another spec is asked for; false
// when ctx ended meanwhile.
func (i *instance) pause(ctx context.Context, wait time.Duration) bool {
	i.setState(Backoff, nil, i.why())
	i.mu.Lock()
	i.restarts++
	i.mu.Unlock()
	t := time.NewTimer(wait)
	defer t.Stop()
	return i.rest(ctx, t.C)
}
