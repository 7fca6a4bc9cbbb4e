package process

import (
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// What a plugin may log in a second; the rest is counted and dropped.
const (
	linesPerSecond = 100
	bytesPerSecond = 64 << 10
)

// Limit keeps a plugin from logging more than people can read.
type Limit struct {
	log hclog.Logger

	mu      sync.Mutex
	dropped int
	due     *time.Timer // reports what was dropped, when nothing more comes
	window  time.Time
	lines   int
	bytes   int
}

// NewLimit tells log of what is dropped.
func NewLimit(log hclog.Logger) *Limit { return &Limit{log: log} }

// Admit counts a line and says whether it is within the limits.
func (l *Limit) Admit(size int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.Sub(l.window) > time.Second {
		l.window, l.lines, l.bytes = now, 0, 0
		l.report()
	}
	l.lines++
	l.bytes += size
	if l.lines <= linesPerSecond && l.bytes <= bytesPerSecond {
		return true
	}
	if l.dropped++; l.dropped == 1 {
		l.due = time.AfterFunc(time.Second, l.Report)
	}
	return false
}

// Report tells what was dropped and not told yet.
func (l *Limit) Report() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.report()
}

// report needs l.mu.
func (l *Limit) report() {
	if l.dropped > 0 {
		l.due.Stop()
		l.log.Warn("the plugin logs too much: lines were dropped", "lines", l.dropped)
		l.dropped = 0
	}
}
