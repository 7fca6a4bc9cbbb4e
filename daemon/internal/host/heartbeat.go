package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/bothyd/bothy/daemon/internal/process"
	"github.com/bothyd/bothy/sdk"
)

// missed is after how many heartbeats in a row without an answer a plugin is
// taken to hang.
const missed = 3

// dumping is how long a plugin that does not answer may take to write where
// its goroutines stand.
const dumping = 500 * time.Millisecond

// watch looks after the plugin until it ends: that it answers, that its socket
// is there, and what it says of its manifest.
func (l *link) watch(changed func(sdk.Manifest)) {
	l.wg.Go(l.beat)
	l.wg.Go(func() {
		err := l.base.Watch(l.alive, changed)
		if sdk.OutcomeOf(err) == sdk.Validation {
			l.log.Warn("what it declares now is refused, and what it declared before holds", "error", err)
		}
		l.log.Debug("watching the manifest ended", "error", err)
	})
}

// heartbeat is what is known of whether a plugin answers. When a beat of the daemon's own
// comes late, it was the daemon that stood, and the silence begins anew.
type heartbeat struct {
	every  time.Duration
	due    time.Time // of the next beat
	silent int       // beats since anything came
}

func newHeartbeat(now time.Time, every time.Duration) *heartbeat {
	return &heartbeat{every: every, due: now.Add(every)}
}

// beat counts one, and reports whether the plugin hangs.
func (p *heartbeat) beat(now time.Time) (hangs bool) {
	if p.silent++; now.Sub(p.due) > p.every/2 {
		p.silent, p.due = 0, now
	}
	p.due = p.due.Add(p.every)
	return p.silent >= missed
}

func (p *heartbeat) answered(now time.Time) { p.silent, p.due = 0, now.Add(p.every) }

// beat asks the plugin at each heartbeat, and ends it when nothing has come for
// three. One question is under way at a time, and its answer counts whenever it
// comes: a plugin that is slow because the machine is has that long for it.
func (l *link) beat() {
	p := newHeartbeat(time.Now(), l.cfg.HealthInterval)
	answers, asked := make(chan bool, 1), false
	timer := time.NewTimer(p.every)
	defer timer.Stop()
	for {
		select {
		case <-l.alive.Done():
			return
		case answered := <-answers:
			asked = false
			if answered {
				p.answered(time.Now())
			}
		case <-timer.C:
			if l.amiss(p.beat(time.Now())) {
				return
			}
			if !asked {
				asked = true
				l.wg.Go(func() { answers <- l.answers(l.alive) })
			}
		}
		timer.Reset(time.Until(p.due))
	}
}

// amiss ends a plugin that hangs or that nobody can reach any more, and reports
// whether it did. One that is attached may have been stopped to look at it.
func (l *link) amiss(hangs bool) bool {
	_, err := os.Lstat(l.addr.String())
	switch {
	case l.attached || !hangs && err == nil:
		return false
	case hangs:
		l.finish(fmt.Sprintf("it did not answer for %v", missed*l.cfg.HealthInterval), hangs)
	default:
		l.finish("its socket is gone: "+err.Error(), hangs)
	}
	return true
}

// answers reports whether the plugin says anything at all: that it is not well
// and that it knows no such question are answers too.
func (l *link) answers(ctx context.Context) bool {
	err := l.base.Health(ctx)
	var own *sdk.Error
	return err == nil || errors.As(err, &own) || !slices.Contains([]codes.Code{codes.Unavailable, codes.Canceled, codes.DeadlineExceeded}, status.Code(err))
}

// finish ends the plugin for a reason of the daemon's. It kills the process before anybody
// hears that the link has ended: what comes in its place finds nothing of it. One that hangs
// is made to write where its goroutines stand, and the error names the file of what it
// wrote. Of several reasons the first one counts.
func (l *link) finish(reason string, hangs bool) {
	if l.attached {
		l.log.Warn("the process that its author runs is left alone", "reason", reason)
		return
	}
	l.failing.Store(true)
	l.ending.Lock() // nobody else says meanwhile why it ended
	defer l.ending.Unlock()
	if l.alive.Err() != nil {
		return
	}
	var stacks []byte
	if hangs {
		stacks = l.proc.Quit(dumping)
	}
	if err := l.proc.Kill(context.Background()); err != nil {
		l.log.Error("killing the plugin", "error", err)
	}
	if len(stacks) > 0 && l.cfg.DataDir != "" {
		file, err := process.KeepStacks(l.cfg.DataDir, l.instance, stacks, time.Now())
		if err != nil {
			l.log.Warn("keeping the stacks of the plugin", "error", err)
		}
		if file != "" {
			reason += "; where it stood is in " + file
		}
	}
	l.died(sdk.Errorf(sdk.PluginCrashed, "the plugin was ended: %s", reason))
}
